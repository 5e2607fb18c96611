// Package numbers calculates with sets of numbers: the values that an expression can have.
package numbers
