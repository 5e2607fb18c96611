// Package config reads the configuration file: it loads, validates, builds and reloads
// what a configuration describes.
package config
