internal import ArgumentParser
internal import Compose
internal import Monitor

/// An argument of a few forms: who writes none of them is told which there are.
protocol FormedArgument: ExpressibleByArgument {
    /// As they stand behind "it has to be".
    static var forms: String { get }
}

extension FormedArgument {
    /// - Throws: `ValidationError` that names the forms.
    static func argument(_ text: String) throws -> Self {
        guard let value = Self(argument: text) else { throw ValidationError("it has to be \(forms)") }
        return value
    }
}

extension Duration {
    /// A time above zero, such as `5s`, `500ms` or `1m`; a number alone is seconds.
    /// - Throws: `ValidationError`.
    static func argument(_ text: String) throws -> Duration {
        guard let duration = Duration(compose: text) ?? Duration(compose: "\(text)s"), duration > .zero else {
            throw ValidationError("'\(text)' is no time such as 5s, 500ms or 1m")
        }
        return duration
    }
}

extension Int {
    /// How many of something are wanted: one at least.
    /// - Throws: `ValidationError`.
    static func count(_ text: String) throws -> Int {
        guard let count = Int(text), count > 0 else { throw ValidationError("it has to be a whole number above zero") }
        return count
    }
}

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
