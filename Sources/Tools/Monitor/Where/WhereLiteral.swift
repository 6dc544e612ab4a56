internal import Foundation
internal import Navigation

/// A word that is a value by itself: a number, `true`, `false` or `null`.
struct WhereLiteral {
    let value: JSONValue

    init?(_ word: String) {
        // No other word is JSON.
        guard let value = try? JSONValue(parsing: Data(word.utf8)) else { return nil }
        self.value = value
    }
}
