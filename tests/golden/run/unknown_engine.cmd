run --engine steam true
