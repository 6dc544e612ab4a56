internal import ArgumentParser
internal import Compose
internal import Monitor

/// An argument that can be written in several forms. The error for an invalid argument lists the forms.
protocol FormedArgument: ExpressibleByArgument {
    /// The list of the forms, which completes the error message "it has to be …".
    static var forms: String { get }
}

extension FormedArgument {
    /// - Throws: `ValidationError` that lists the forms.
    static func argument(_ text: String) throws -> Self {
        guard let value = Self(argument: text) else { throw ValidationError("it has to be \(forms)") }
        return value
    }
}

extension Duration {
    /// Parses a duration above zero, such as `5s`, `500ms` or `1m`. A number without a unit is in seconds.
    /// - Throws: `ValidationError`.
    static func argument(_ text: String) throws -> Duration {
        guard let duration = Duration(compose: text) ?? Duration(compose: "\(text)s"), duration > .zero else {
            throw ValidationError(
                "'\(text)' is not a duration above zero; write a number and a unit: 500ms, 5s, 2m, 1h")
        }
        return duration
    }
}

extension Int {
    /// Parses a count of at least one.
    /// - Throws: `ValidationError`.
    static func count(_ text: String) throws -> Int {
        guard let count = Int(text), count > 0 else { throw ValidationError("it has to be a whole number above zero") }
        return count
    }
}

extension ValidationError {
    /// Turns a syntax error in the value of an option into a `ValidationError` that names the option.
    static func naming<Value>(_ option: String, _ parse: () throws(SyntaxMistake) -> Value) throws -> Value {
        do {
            return try parse()
        } catch {
            throw ValidationError("\(option): \(error)")
        }
    }
}
