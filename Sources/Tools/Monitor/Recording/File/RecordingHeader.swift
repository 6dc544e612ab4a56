internal import EventBus
internal import Foundation

/// The first line of a recording: what it is, and which messages it has.
package struct RecordingHeader: Codable, Hashable, Sendable {
    /// The latest form of recordings, and the only one so far.
    package static let version = 1
    static let mark = "recording"

    private let segue: String
    package let version: Int
    /// When it was begun, as RFC 3339 says it.
    package let begun: String
    /// Where in the journal it began, as `--since` says it.
    package let since: String
    /// Whether all messages were to be recorded, rather than a selection.
    package let everything: Bool

    package init(since: MonitorStart, _ selection: MessageSelection) {
        segue = Self.mark
        version = Self.version
        begun = Timestamp.text(of: Date())
        self.since = since.argument
        everything = selection == MessageSelection()
    }

    /// Whether it began with the last of each document, which says nothing of what came between them.
    package var beginsWithRetained: Bool { since == MonitorStart.retained.argument }

    /// Whether every message of a stretch of the journal has to be in it.
    package var hasEveryMessage: Bool {
        everything && ![MonitorStart.retained, .last].map(\.argument).contains(since)
    }
}

extension MonitorStart {
    /// As `--since` says it.
    fileprivate var argument: String {
        switch self {
        case .now: "now"
        case .beginning: "beginning"
        case .retained: "retained"
        case .last: "last"
        case .offset(let offset): "\(offset)"
        case .time(let time): Timestamp.text(of: time)
        case .ago(let duration): "\(duration / .seconds(1))s"
        }
    }
}
