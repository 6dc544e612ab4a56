import Contracts
import Device
import DeviceTestSupport
import EventBus
import Navigation
import Presentation

@testable import TerminalDevice

/// A terminal session on Anna's phone.
struct SessionScript {
    var session: TerminalSession

    init(_ mode: Terminal.Mode, flow: Flow? = nil) {
        let device = DeviceSession(
            .phone, flow: flow, screens: .focusPlayer, commandLifetime: .seconds(60),
            keepsRequestedURL: mode == .scripted)
        session = TerminalSession(device, mode: mode, timeout: .seconds(30))
    }

    mutating func handle(_ input: TerminalSession.Input) throws -> [TerminalSession.Output] {
        try session.handle(input)
    }

    mutating func show(_ snapshot: NavigationSnapshot, answering cause: Envelope? = nil) throws
        -> [TerminalSession.Output]
    {
        try handle(.message(.answer(Document.NavigationState(snapshot), to: cause)))
    }
}

extension [TerminalSession.Output] {
    private var ofDevice: [DeviceSession.Output] {
        compactMap { if case .device(let output) = $0 { output } else { nil } }
    }

    var published: [Envelope] { ofDevice.published }

    var refusals: [String] { ofDevice.compactMap { if case .refused(let text) = $0 { text } else { nil } } }

    /// The published messages without the view's reports about its screens.
    var picked: [Envelope] {
        published.filter { ![Command.ScreenDisplayed.type, Command.ScreenGone.type].contains($0.type) }
    }

    var said: [String] { ofDevice.said }

    /// The queries that were asked.
    var asked: [Envelope] {
        ofDevice.compactMap { if case .ask(let query) = $0 { query } else { nil } }
    }

    var opened: [String] { ofDevice.opened }

    /// The URLs that the person has asked to open.
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

    var isDrawing: Bool { ofDevice.contains(where: \.isDrawing) }

    var wantsLine: Bool {
        contains { if case .read = $0 { true } else { false } }
    }

    var ends: Bool {
        contains { if case .end = $0 { true } else { false } }
    }
}
