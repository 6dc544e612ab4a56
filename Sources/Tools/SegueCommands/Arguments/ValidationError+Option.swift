internal import ArgumentParser
internal import Monitor

extension ValidationError {
    /// Makes of a mistake in an option's text one that names the option.
    static func naming<Value>(_ option: String, _ parse: () throws(SyntaxMistake) -> Value) throws -> Value {
        do {
            return try parse()
        } catch {
            throw ValidationError("\(option): \(error)")
        }
    }
}
