package import ArgumentParser

/// An argument of a few forms: who writes none of them is told which there are.
package protocol FormedArgument: ExpressibleByArgument {
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
