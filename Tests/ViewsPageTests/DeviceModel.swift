import Contracts
import Device
import EventBus
import Logging
import Navigation
import Observation

/// The device of a window, as SwiftUI observes it.
@MainActor @Observable
final class DeviceModel {
    /// Nil until the coordinator has published a state.
    private(set) var scene: Scene?
    /// A text to show for a moment.
    private(set) var note: String?
    /// A URL to open, once.
    var requestedURL: OpenableURL?

    private var session: DeviceSession
    private let connection: DeviceConnection
    private let outbox = DeviceOutbox()
    private let (queries, asking) = AsyncStream.makeStream(of: Envelope.self, bufferingPolicy: .bufferingOldest(16))

    init(_ identity: DeviceIdentity, screens: AppScreens, bus: EventBus) {
        session = DeviceSession(
            identity, screens: screens, commandLifetime: EventBus.commandLifetime, isAnimated: true)
        connection = DeviceConnection(bus: bus, logger: Logger(label: "device"))
    }

    /// Runs until the task is cancelled. In a view: `.task { try? await model.run() }`
    func run() async throws {
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

    func choose(_ choice: Choice) { handle(.choice(choice)) }

    func report(_ report: DeviceSession.Report) { handle(.report(report)) }

    private func answer(_ answer: Result<Envelope, any Error>, to query: String) { handle(.answer(answer, to: query)) }

    private func handle(_ input: DeviceSession.Input) {
        do {
            for output in try session.handle(input) {
                switch output {
                case .draw: scene = session.scene
                case .publish(let message): if !outbox.send(message) { note = "Too many messages wait." }
                case .ask(let query): asking.yield(query)
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

// What a NavigationStack and a sheet are bound to. SwiftUI sets these values after its own gestures; a set value is a
// report, and the coordinator's next state decides.
extension DeviceModel {
    /// The screens on the root's stack.
    var path: [ScreenInstance] {
        get { scene?.snapshot.state.path ?? [] }
        set {
            guard let former = scene?.snapshot.state.path, newValue.count < former.count else { return }
            report(.backCompleted(instance: former[newValue.count].id))
        }
    }

    /// The presentation in front.
    var presented: Presentation? {
        get { scene?.snapshot.state.presentations.last }
        set {
            guard newValue == nil, let former = scene?.snapshot.state.presentations.last else { return }
            report(.dismissed(instance: former.instance.id))
        }
    }
}
