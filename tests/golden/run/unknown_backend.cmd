run --backend steam true
