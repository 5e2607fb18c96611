// Package strictyaml decodes YAML files that people write. It reports all mistakes of a file
// together, each with its position and the expected value.
//
// Unknown and repeated keys are mistakes, and so are a second document, an empty
// file, quoted numbers and text that only some YAML versions take for a boolean.
// Anchors, aliases and merge keys are supported; the size of a file with its aliases expanded
// is bounded. A method SetDefaults is called on every struct before its block is decoded.
// Types can implement the interfaces of YAML libraries and encoding.TextUnmarshaler.
package strictyaml
