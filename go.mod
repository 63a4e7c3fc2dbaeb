module github.com/ambitfs/ambit

go 1.26.5

require (
	github.com/aymanbagabas/go-udiff v0.4.2
	github.com/bluekeyes/go-gitdiff v0.9.0
	github.com/gabriel-vasile/mimetype v1.4.16
	github.com/gobwas/glob v1.1.0
	github.com/google/go-cmp v0.7.0
	github.com/spf13/afero v1.15.0
	golang.org/x/sys v0.49.0
	golang.org/x/text v0.44.0
)
