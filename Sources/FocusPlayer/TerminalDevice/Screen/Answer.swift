internal import Foundation

/// What a line of input means.
package enum Answer: Hashable, Sendable {
    case nothing
    /// A choice as it is numbered on the screen.
    case number(Int)
    /// A choice by its label, the beginning of its label, or its command, perhaps with fields: `Connect Spotify`,
    /// `PlaylistSelected calm`, `NameEntered name=Ann`.
    case text(String)
    case back
    case dismiss
    case dismissError
    /// The URL that is shown last.
    case openURL
    /// No choice: wait until this screen can be acted on, as in `@playlistSelection`.
    case screen(String)
    case quit

    package init(_ line: String) {
        let text = line.trimmingCharacters(in: .whitespacesAndNewlines)
        switch text {
        case "": self = .nothing
        case "b": self = .back
        case "d": self = .dismiss
        case "x": self = .dismissError
        case "o": self = .openURL
        case "q": self = .quit
        case _ where text.hasPrefix("@"): self = .screen(String(text.dropFirst()))
        default: self = Int(text).map(Answer.number) ?? .text(text)
        }
    }
}
