module github.com/ambitfs/ambit/bench

go 1.26.5

require github.com/ambitfs/ambit v0.1.0
