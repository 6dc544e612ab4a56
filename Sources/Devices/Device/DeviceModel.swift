internal import Contracts
public import EventBus
public import Logging
public import Navigation
public import Observation

/// A device whose drawing observes it, such as the view of a window in SwiftUI.
///
/// In SwiftUI, `.task { try? await model.run() }` runs it. A `NavigationStack` is bound to ``path``, a sheet to
/// ``presented``. SwiftUI sets these values after its own gestures; a set value is a report, and the coordinator's next
/// state decides.
@MainActor @Observable
public final class DeviceModel {
    /// What to draw. Nil until the coordinator has published a state, and after the end of the session.
    public private(set) var scene: Scene?
    /// A text to show for a moment.
    public private(set) var note: String?
    /// A URL to open, once.
    public var requestedURL: OpenableURL?

    private var session: DeviceSession
    private let connection: DeviceConnection
    private let outbox = DeviceOutbox()
    private let (queries, asking) = AsyncStream.makeStream(of: Envelope.self, bufferingPolicy: .bufferingOldest(16))

    public init(_ identity: DeviceIdentity, screens: AppScreens, bus: EventBus, logger: Logger) {
        session = DeviceSession(
            identity, screens: screens, commandLifetime: EventBus.commandLifetime, isAnimated: true)
        connection = DeviceConnection(bus: bus, logger: logger)
    }

    /// Receives and publishes messages until the task is cancelled. To be called once.
    /// - Throws: An error of the bus after which a subscription cannot begin again.
    public func run() async throws {
        let (filters, connection, outbox) = (session.filters, connection, outbox)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await message in outbox.messages { try await connection.publish(message) } }
            group.addTask { [self] in
                for await query in queries { await answer(connection.answer(to: query), to: query.id) }
            }
            group.addTask { [self] in
                try await connection.follow(filters) {
                    await handle(.attached)
                } receive: { message in
                    await handle(.message(message))
                }
            }
            try await group.next()
            group.cancelAll()
        }
    }

    /// Does what a person has chosen: one of the scene's choices.
    public func choose(_ choice: Choice) { handle(.choice(choice)) }

    /// Reports what has happened in the drawing.
    public func report(_ report: DeviceSession.Report) { handle(.report(report)) }

    private func answer(_ answer: Result<Envelope, any Error>, to query: String) { handle(.answer(answer, to: query)) }

    private func handle(_ input: DeviceSession.Input) {
        do {
            for output in try session.handle(input) {
                switch output {
                case .draw: scene = session.scene
                case .publish(let message): if !outbox.send(message) { note = "Too many messages wait." }
                case .ask(let query):
                    guard case .enqueued = asking.yield(query) else { note = "Too many queries wait."; break }
                case .say(let text), .refused(let text): note = text
                case .openURL(let url): requestedURL = OpenableURL(url)
                case .answered, .unreadable: break
                }
            }
        } catch {
            note = "\(error)"
        }
    }
}

extension DeviceModel {
    /// The screens on the root's stack. A shorter path reports that a person has gone back.
    public var path: [ScreenInstance] {
        get { scene?.snapshot.state.path ?? [] }
        set {
            guard let former = scene?.snapshot.state.path, newValue.count < former.count else { return }
            report(.backCompleted(instance: former[newValue.count].id))
        }
    }

    /// The presentation in front. Nil reports that a person has dismissed it.
    public var presented: Presentation? {
        get { scene?.snapshot.state.presentations.last }
        set {
            guard newValue == nil, let former = scene?.snapshot.state.presentations.last else { return }
            report(.dismissed(instance: former.instance.id))
        }
    }
}
