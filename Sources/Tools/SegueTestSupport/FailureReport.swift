internal import Contracts
internal import EventBus
internal import FlowReview
internal import Monitor
internal import Navigation
internal import Support

/// What a test knew when it failed, and the few lines that describe it.
struct FailureReport: Sendable {
    let caller: Caller
    let reason: String
    /// The session for which the test waited. Nil for all sessions.
    var session: String?
    /// All messages of the bus so far.
    let messages: [Envelope]
    let processes: [ObservedProcess]

    // Together, the lines fit on a screen.
    private static let (platformCount, happeningCount, processCount) = (6, 10, 8)
    private static let width = 160

    var lines: [String] {
        let ofSession = messages.filter { session == nil || $0.subject == session }
        return ["\(caller): \(reason)"]
            + Self.section("Platforms", lines: Self.states(in: ofSession), limit: Self.platformCount)
            + Self.section("What happened", lines: happenings)
            + Self.section("Processes", lines: processes.map(\.description), limit: Self.processCount)
            + processes.filter(\.isSuspect).prefix(2).flatMap { process in
                process.lastLines.isEmpty
                    ? [] : ["Last lines of \(process.name):"] + process.lastLines.map(Self.indented)
            }
    }

    private static func section(_ title: String, lines: [String], limit: Int = .max) -> [String] {
        guard !lines.isEmpty else { return [] }
        let left = lines.count - limit
        return ["\(title):"] + lines.prefix(limit).map(indented) + (left > 0 ? ["  … and \(left) more"] : [])
    }

    private static func indented(_ line: String) -> String { "  \(line.printable.cut(to: width))" }

    /// The last state of each platform.
    private static func states(in messages: [Envelope]) -> [String] {
        var last: [String: Envelope] = [:]
        for message in messages where message.type == Document.NavigationState.type {
            last["\(message.attributes.key ?? "")\(ofSession(message))"] = message
        }
        return last.sorted { $0.key < $1.key }.map { name, message in
            guard !message.isTombstone else { return "\(name): withdrawn" }
            guard let snapshot = try? message.decode(Document.NavigationState.self).snapshot else {
                return "\(name): cannot be read"
            }
            return "\(name), revision \(snapshot.revision): \(snapshot.stateLine)"
        }
    }

    /// The last happenings, with the positions of their first messages. The processes have a section of their own.
    private var happenings: [String] {
        var happenings = Happenings()
        let told = (messages.map { happenings.handle($0) } + [happenings.flush()]).compactMap(\.self)
            .filter { $0.kind != .process && (session == nil || $0.session == session) }
        let offsets = Dictionary(messages.map { ($0.id, $0.position?.offset) }) { first, _ in first }
        let left = told.count - Self.happeningCount
        return (left > 0 ? ["(\(left) earlier ones)"] : [])
            + told.suffix(Self.happeningCount).map { happening in
                let offset = happening.messages.first.flatMap { offsets[$0] ?? nil }.map { "\($0)" } ?? "–"
                let actor = [happening.kind.manner, happening.actor].filter { !$0.isEmpty }.joined(separator: " ")
                let session = happening.session == Session.default ? "" : " of \(happening.session)"
                let rule = happening.rule.map { " (\($0))" } ?? ""
                return "\(offset) \(actor)\(session)\(rule)\(happening.parts.isEmpty ? "" : ": ")\(happening.words)"
            }
    }

    private static func ofSession(_ message: Envelope) -> String {
        message.subject == Session.default ? "" : " of \(message.subject)"
    }
}

/// A process of a stack, as a failure describes it.
public struct ObservedProcess: Hashable, Sendable, CustomStringConvertible {
    let name: String
    /// The state in words, such as `ready, 1 restart`.
    let state: String
    /// True if the process is not ready or was restarted, so that its log may have the reason of the failure.
    let isSuspect: Bool
    /// The last lines of its log.
    let lastLines: [String]

    public var description: String { "\(name): \(state)" }
}

extension String {
    /// The text, or its beginning if it is longer than a number of scalars.
    func cut(to limit: Int) -> String {
        let scalars = unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: limit, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return self }
        return "\(String(scalars[..<end]))…"
    }
}
