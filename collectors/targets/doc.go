// Package targets has one collector check several targets with the same options.
package targets
