new ../run
