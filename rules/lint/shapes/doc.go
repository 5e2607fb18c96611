// Package shapes describes the labels that the result of an expression can have, with their
// possible values.
package shapes
