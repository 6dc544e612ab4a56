internal import ArgumentParser

extension Int {
    /// How many of something are wanted: one at least.
    /// - Throws: `ValidationError`.
    static func count(_ text: String) throws -> Int {
        guard let count = Int(text), count > 0 else { throw ValidationError("it has to be a whole number above zero") }
        return count
    }
}
