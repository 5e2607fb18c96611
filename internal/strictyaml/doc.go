// Package strictyaml decodes YAML files that people write: every mistake of a
// file is reported at once, each with its place and with what is expected there.
//
// Unknown and repeated keys are mistakes, and so are a second document, an empty
// file, quoted numbers and text that only some YAML versions take for a boolean.
// Anchors, aliases and merge keys are supported; what aliases can make of a small
// file is bounded. Types decide about themselves: a method SetDefaults is called
// on every struct before its block is decoded, and the usual interfaces of YAML
// and of encoding.TextUnmarshaler are honoured.
package strictyaml
