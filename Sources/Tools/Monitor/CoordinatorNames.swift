internal import Contracts
package import EventBus
internal import Navigation
internal import Support

/// The names of coordinators for people. All coordinators have the same process name, so the name contains the
/// platform.
package struct CoordinatorNames: Hashable, Sendable {
    /// The platforms, by the source of the coordinator.
    private var platforms: [String: String] = [:]

    package init() {}

    /// Reads the flows that the coordinators publish.
    package init(on bus: EventBus) async throws {
        for message in try await bus.documents(matching: [.type(Document.Flow.self)]) { record(message) }
    }

    /// Adds the sender of a flow or of a navigation state.
    package mutating func record(_ message: Envelope) {
        let isOfCoordinator = message.type == Document.Flow.type || message.type == Document.NavigationState.type
        guard isOfCoordinator, !message.isTombstone, let platform = message.attributes.key else { return }
        platforms[message.attributes.source] = platform
    }

    /// Adds all names of `other`.
    mutating func merge(_ other: CoordinatorNames) {
        platforms.merge(other.platforms) { $1 }
    }

    func knows(_ source: String) -> Bool { platforms[source] != nil }

    /// The name with the platform, such as `navigation-coordinator (ios)`, or else the name.
    package func name(of process: String, instance: String) -> String {
        platforms["\(process)/\(instance)"].map { "\(process) (\($0))" } ?? process
    }

    /// The name with the platform, such as `navigation-coordinator (ios)`. The source itself if it is not that of a
    /// coordinator.
    package func name(of source: String) -> String {
        guard let platform = platforms[source] else { return source }
        return "\(source.cut(at: "/")?.before ?? source[...]) (\(platform))"
    }
}

/// The names of the coordinators on a bus: of those that run, of those that ran earlier, and of those that start later.
package actor CoordinatorDirectory {
    /// The maximum number of sources that are remembered, so that the bus is not asked about them again.
    private static let limit = 10_000

    private let bus: EventBus
    /// The end of the journal when the directory was created.
    private let end: Position
    private var names = CoordinatorNames()
    /// The sources for which the bus was asked.
    private var asked: Set<String> = []

    /// Reads all flows in the journal.
    package init(of bus: EventBus) async throws {
        self.bus = bus
        end = try await bus.inspect.end()
        names = try await CoordinatorNames(on: bus)
        let flows = [MessageFilter.type(Document.Flow.self)]
        let newest = try await bus.inspect.newest(matching: flows)
        guard newest.offset > 0 else { return }
        let earlier = try await bus.withSubscription(to: flows, from: .beginning, until: newest, onNotice: nil) {
            var names = CoordinatorNames()
            for try await message in $0 { names.record(message) }
            return names
        }
        names.merge(earlier)
    }

    /// The names, with that of the sender of a message. Asks the bus for a sender that may have started since the
    /// directory was created. If the bus does not answer, the sender has no name yet.
    package func names(with message: Envelope) async -> CoordinatorNames {
        names.record(message)
        // A coordinator announces itself before it publishes its flow.
        let isAnnouncement = [Document.Presence.type, Document.ServiceContract.type].contains(message.type)
        return await names(with: isNew(message.position) && !isAnnouncement ? [message.attributes.source] : [])
    }

    /// The names, with those of the senders of a story.
    package func names(with story: Story) async -> CoordinatorNames {
        await names(with: story.messages.filter { isNew($0.position) }.map(\.source))
    }

    private func isNew(_ position: Position?) -> Bool { position.map { $0.offset > end.offset } ?? true }

    private func names(with sources: [String]) async -> CoordinatorNames {
        let unknown = sources.filter { !names.knows($0) && !asked.contains($0) }
        guard !unknown.isEmpty, let running = try? await CoordinatorNames(on: bus) else { return names }
        names.merge(running)
        if asked.count > Self.limit { asked = [] }
        asked.formUnion(unknown)
        return names
    }
}
