internal import Contracts
internal import EventBus
internal import FlowReview
internal import Monitor
internal import Navigation

/// The screens of the platforms of one session, in the view of `segue top`.
struct TopPlatforms: Sendable {
    /// The maximum number of platforms that are listed.
    private static let capacity = 100

    private let session: String
    /// The screens in words, by platform.
    private var screens: [String: String] = [:]

    init(session: String) {
        self.session = session
    }

    /// Applies the navigation state of a platform, or its withdrawal.
    mutating func apply(_ message: Envelope) {
        guard message.type == Document.NavigationState.type, message.subject == session,
            let platform = message.attributes.key, screens[platform] != nil || screens.count < Self.capacity
        else { return }
        guard !message.isTombstone else { return screens[platform] = nil }
        let state = try? message.decode(Document.NavigationState.self).snapshot.state
        screens[platform] = state.map(Self.text) ?? "(the state cannot be read)"
    }

    /// The front screen, the screens beside it, and the screens that they cover: `login over home`.
    private static func text(_ state: NavigationState) -> String {
        let active = [state.top] + state.active.filter { $0.id != state.top.id }
        let covered = state.shown.filter { screen in !active.contains { $0.id == screen.id } }
        let front = active.map(\.text).joined(separator: ", ")
        return covered.isEmpty ? front : "\(front) over \(covered.reversed().map(\.text).joined(separator: ", "))"
    }

    /// A table with its header. Empty if there are no platforms.
    var lines: [String] {
        guard !screens.isEmpty else { return [] }
        var table = Table("PLATFORM", session == Session.default ? "SCREENS" : "SCREENS OF SESSION \(session)")
        for (platform, text) in screens.sorted(by: { $0.key < $1.key }) { table.append(platform, text) }
        return table.lines
    }
}
