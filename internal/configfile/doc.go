// Package configfile reads a configuration file with any list of kinds of collectors: it loads,
// validates, builds and reloads what the file describes. The list is a type parameter, so that a
// program contains only the kinds that it names.
package configfile
