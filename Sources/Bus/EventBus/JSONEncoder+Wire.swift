package import Foundation

extension JSONEncoder {
    /// Keys in order, so that equal messages are equal bytes.
    package static var wire: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
