// Temporary: modules that use JSON values, durations as text or spelling through this one will import Support
// themselves.
@_exported public import Support
