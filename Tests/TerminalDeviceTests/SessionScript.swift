import Contracts
import EventBus
import Navigation

@testable import TerminalDevice

/// A session under test, which numbers its states.
struct SessionScript {
    var session: DeviceSession

    init(_ mode: DeviceSession.Mode) {
        let identity = DeviceIdentity(platform: "ios", device: "phone", subject: "anna", source: "device/1")
        session = DeviceSession(identity, mode: mode, commandLifetime: .seconds(60))
    }

    mutating func handle(_ input: DeviceSession.Input) throws -> [DeviceSession.Output] {
        try session.handle(input)
    }

    mutating func show(_ snapshot: NavigationSnapshot, answering cause: Envelope? = nil) throws
        -> [DeviceSession.Output]
    {
        try handle(.message(.answer(Document.NavigationState(snapshot), to: cause)))
    }
}

extension [DeviceSession.Output] {
    var published: [Envelope] {
        compactMap { if case .publish(let message) = $0 { message } else { nil } }
    }

    /// What was picked: published besides the reports of what is drawn.
    var picked: [Envelope] {
        published.filter { ![Command.ScreenDisplayed.type, Command.ScreenGone.type].contains($0.type) }
    }

    var said: [String] {
        compactMap { if case .say(let text) = $0 { text } else { nil } }
    }

    var opened: [String] {
        compactMap { if case .openURL(let url) = $0 { url } else { nil } }
    }

    /// What the person wants opened.
    var browsed: [String] {
        compactMap { if case .browse(let url) = $0 { url.text } else { nil } }
    }

    var deadlines: [Int] {
        compactMap { if case .startDeadline(let number) = $0 { number } else { nil } }
    }

    var failure: DeviceFailure? {
        for case .fail(let failure) in self { return failure }
        return nil
    }

    var wantsLine: Bool {
        contains { if case .read = $0 { true } else { false } }
    }

    var ends: Bool {
        contains { if case .end = $0 { true } else { false } }
    }
}

extension DeviceSession.Output {
    var isDrawing: Bool { if case .draw = self { true } else { false } }

    var isComplaint: Bool { if case .unreadable = self { true } else { false } }
}
