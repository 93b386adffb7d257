run --algorithm steam true
