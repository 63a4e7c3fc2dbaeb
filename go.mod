module github.com/ambitfs/ambit

go 1.26.5

require (
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/spf13/afero v1.15.0 // indirect
	golang.org/x/text v0.28.0 // indirect
)
