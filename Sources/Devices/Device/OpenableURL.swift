internal import Foundation

/// A URL that may be opened, and that may be a hyperlink in a terminal.
///
/// URLs come from other programs. A URL of a local file, a URL that a command could take for an option, and a URL with
/// invisible characters is only shown.
public struct OpenableURL: Hashable, Sendable {
    /// The allowed beginnings of a URL.
    package static let beginnings = ["http://", "https://", "spotify:"]
    /// The greatest length of a URL in bytes. Browsers and servers accept this length (RFC 9110 recommends 8,000
    /// bytes), and it still fits on a terminal.
    private static let maximumLength = 8192
    /// The length in bytes beyond which a text is not searched for URLs.
    private static let maximumTextLength = 2 * maximumLength

    /// The URL in visible ASCII characters. Other characters are percent-encoded; those of a host are encoded with
    /// IDNA.
    public let text: String

    public init?(_ text: String) {
        guard text.utf8.count <= Self.maximumLength, text.unicodeScalars.allSatisfy(Self.isVisible),
            Self.beginnings.contains(where: text.lowercased().hasPrefix), let url = URL(string: text)
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

    /// The URLs in a text, from left to right, without the punctuation after them.
    package static func found(in text: String) -> [(range: Range<String.Index>, url: OpenableURL)] {
        guard text.utf8.count <= maximumTextLength, text.utf8.contains(UInt8(ascii: ":")),
            let form = try? Regex("(?i)\\b(?:\(beginnings.joined(separator: "|")))[^\\s\"<>\\\\^`{|}]+")
        else { return [] }
        // An invisible character is part of the match, which then is not an openable URL.
        return text.matches(of: form).compactMap { match in
            let range = match.range.lowerBound..<end(of: text[match.range])
            return OpenableURL(String(text[range])).map { (range, $0) }
        }
    }

    private static func end(of match: Substring) -> String.Index {
        // Searched once, and not again for each of many closing brackets.
        let (hasRound, hasSquare) = (match.contains("("), match.contains("["))
        var match = match
        while let last = match.last {
            switch last {
            case ".", ",", ";", ":", "!", "?", "'": break
            case ")" where !hasRound, "]" where !hasSquare: break
            default: return match.endIndex
            }
            match.removeLast()
        }
        return match.endIndex
    }
}
