internal import Foundation
internal import Support

/// A URL that may be opened, and that may be a hyperlink in a terminal.
///
/// It begins with one of `beginnings` and has no spaces or invisible characters. Any other URL is only shown.
public struct OpenableURL: Hashable, Sendable {
    /// The allowed beginnings of a URL.
    package static let beginnings = ["http://", "https://", "spotify:"]
    /// The maximum length of a URL in bytes. A longer URL is only shown.
    private static let maximumLength = 8192
    /// The maximum length in bytes of a text that is searched for URLs. No URL is found in a longer text.
    private static let maximumTextLength = 2 * maximumLength

    /// The URL in visible ASCII characters. Other characters are encoded.
    public let text: String

    /// - Returns: Nil if the text is not a URL that may be opened.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.maximumLength, text.unicodeScalars.allSatisfy(Self.isVisible),
            Self.beginnings.contains(where: { text.lowercased().begins(with: $0) }), let url = URL(string: text)
        else { return nil }
        self.text = text.utf8.allSatisfy(Self.isASCII) ? text : url.absoluteString
        guard self.text.utf8.allSatisfy(Self.isASCII) else { return nil }
    }

    private static func isASCII(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned: false
        case .spaceSeparator, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }

    /// The openable URLs in a text, from left to right, without the punctuation after them.
    package static func found(in text: String) -> [(range: Range<String.Index>, url: OpenableURL)] {
        guard text.utf8.count <= maximumTextLength, text.utf8.contains(UInt8(ascii: ":")),
            let form = try? Regex("(?i)\\b(?:\(beginnings.joined(separator: "|")))[^\\s\"<>\\\\^`{|}]+").byScalar
        else { return [] }
        // A match can contain invisible characters. Such a match is not an openable URL.
        return text.matches(of: form).compactMap { match in
            let range = match.range.lowerBound..<end(of: text[match.range])
            return OpenableURL(String(text[range])).map { (range, $0) }
        }
    }

    private static func end(of match: Substring) -> String.Index {
        // The opening brackets are searched once, and not again for each closing bracket.
        var scalars = match.unicodeScalars
        let (hasRound, hasSquare) = (scalars.contains("("), scalars.contains("["))
        while let scalar = scalars.last {
            switch scalar {
            case ".", ",", ";", ":", "!", "?", "'": break
            case ")" where !hasRound, "]" where !hasSquare: break
            default: return scalars.endIndex
            }
            scalars.removeLast()
        }
        return scalars.endIndex
    }
}
