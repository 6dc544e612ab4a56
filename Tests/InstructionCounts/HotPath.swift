import Broker
import BusAccess
import BusFormat
import BusKeys
import BusProtocol
import Consuming
import Contracts
import EventBus
import FlowReview
import Foundation
import Logging
import Navigation
import SampleFlows
import Support
import TestSupport

/// What happens for each message or tap.
enum HotPath: String, CaseIterable {
    /// A coordinator's machine handles the choice of a playlist, and the reports that the former screens are gone.
    case tap
    /// A state is written as the JSON of its document.
    case snapshot
    /// A state is read from the JSON of its document, and a machine continues from it.
    case restore
    /// Twenty rules of a large flow are reviewed with the contracts of their messages.
    case review
    /// A header of all attributes is written and read.
    case header
    /// The broker's engine journals a batch of one command and answers.
    case publish
    /// The same on a bus with keys.
    case keys
    /// The same on a bus with keys and rights.
    case rights
    /// A durable consumer's queue takes a message, has it handled and its result published.
    case queue

    func run(_ count: Int) throws {
        switch self {
        case .tap: try tap(count)
        case .snapshot: try snapshot(count)
        case .restore: try restore(count)
        case .review: try review(count)
        case .header: try header(count)
        case .publish: try publish(count)
        case .keys: try publish(count) { try Self.rights(in: $0, nil) }
        case .rights:
            var entry = AccessEntry()
            entry.publishes = [Self.attributes(id: "").type]
            let access = Access(services: ["music-service": entry])
            try publish(count) { try Self.rights(in: $0, access) }
        case .queue: queue(count)
        }
    }

    // MARK: Navigation

    private func tap(_ count: Int) throws {
        var session = try PhoneSession()
        for number in 0..<count { session.choose("playlist-\(number % 2)") }
    }

    private func snapshot(_ count: Int) throws {
        var session = try PhoneSession()
        session.choose("playlist-1")
        for _ in 0..<count { _ = try session.document().data }
    }

    private func restore(_ count: Int) throws {
        var session = try PhoneSession()
        session.choose("playlist-1")
        let document = try session.document()
        for _ in 0..<count {
            let snapshot = try document.decode(Document.NavigationState.self).snapshot
            _ = Restoration(snapshot, flow: session.machine.flow)
        }
    }

    private func review(_ count: Int) throws {
        let types = (0..<count * 10).map { "command.C\($0)" }
        let data = JSONSchema.object(requiring: ["n": .integer])
        let catalogue = MessageCatalogue(Dictionary(uniqueKeysWithValues: types.map { ($0, data) }))
        let flow = try Flow("large", version: 1, platform: "ios", start: "a") {
            Flow.Screen("a", sends: types)
            Flow.Screen("b", arguments: ["n": .init(.integer)])
            Flow.Screen("c")
            (0..<types.count * 2).map { index in
                Flow.Part.transition(
                    Flow.Transition(
                        on: types[index / 2], where: ["n": .value(.integer(index))],
                        do: [
                            .push(.screen(index.isMultiple(of: 2) ? "b" : "c", ["n": "${data.n}"])),
                            .send(type: types[index / 3], data: ["n": "${arguments.n}"]),
                        ]))
            }
        }
        guard !flow.review(messages: catalogue).contains(where: { $0.code == .wrongType }) else { throw WrongReview() }
    }

    private struct WrongReview: Error {}

    // MARK: The bus

    private func header(_ count: Int) throws {
        for _ in 0..<count { _ = try Attributes(json: Self.attributes(id: "message-1").json[...]) }
    }

    /// The rights of a service.
    /// - Parameter folder: An empty folder.
    private static func rights(in folder: String, _ access: Access?) throws -> Rights {
        let keys = try KeyFolder.create("\(folder)/keys")
        _ = try keys.add("music-service")
        guard let key = try keys.known().list.first else { throw NotJournalled() }
        return Rights(of: key, in: access)
    }

    /// - Parameter rights: Makes the rights of the publisher, on a bus with keys.
    private func publish(_ count: Int, _ rights: ((_ folder: String) throws -> Rights)? = nil) throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let configuration = BrokerConfiguration(
            address: "ipc://\(scratch.path)", journal: "\(scratch.path)/journal.sqlite")
        let now = ContinuousClock.now
        var engine = try BrokerEngine(
            journal: Journal(path: configuration.journal), configuration: configuration,
            logger: .silent, clock: BrokerClock(start: now), now: now)
        let user = rights.map { _ in "user" }
        _ = engine.accept(try rights.map { ["user": try $0(scratch.path)] }, now: now)
        let attributes = Self.attributes(id: "message-1")
        let message = PublishedMessage(
            topic: Topic(attributes.type, subject: attributes.subject).name, subject: attributes.subject, key: "",
            header: Bytes(attributes.json[...]), data: Bytes(repeating: UInt8(ascii: "1"), count: 200))
        let producer = ProducerID(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))
        for number in 0..<count {
            let request = Request.publish(
                PublishRequest(producer: producer, sequence: UInt64(number + 1), messages: [message]))
            let outgoing = engine.handle([Incoming(peer: [1], frames: request.frames(id: 1), user: user)], now: now)
            guard outgoing.feed.count == 1 else { throw NotJournalled() }
        }
    }

    private struct NotJournalled: Error {}

    private func queue(_ count: Int) {
        let attributes = Self.attributes(id: "message-1")
        let claim = ConsumerClaim(
            consumer: "worker", member: .shared, ownerGeneration: 1, epoch: 7,
            offsets: [Partition(subject: attributes.subject): 0])
        var queue = ConsumerQueue(.pipelined, claim: claim)
        queue.adopt(claim)
        let data = Data("{}".utf8)
        for number in 0..<count {
            let position = Position(epoch: 7, offset: UInt64(number + 1))
            queue.enqueue(Delivery(Envelope(attributes: attributes, data: data, position: position)))
            while let step = queue.next() {
                switch step {
                case .handle(let message, let turn): queue.handled(Handled([message]), of: turn)
                case .publish(_, let turn): _ = queue.recorded(turn)
                case .fire: break
                }
            }
        }
    }

    /// The attributes of a tap.
    private static func attributes(id: String) -> Attributes {
        var attributes = Attributes(
            type: MessageType(kind: .command, name: "PlaylistSelected"), source: "focus-player/ios-1", subject: "anna",
            id: id, time: Date(timeIntervalSince1970: 1_800_000_000))
        attributes.platform = "ios"
        attributes.device = "ios-1"
        attributes.instance = "playlistSelection-3"
        attributes.correlationID = id
        attributes.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        attributes.expiryTime = Date(timeIntervalSince1970: 1_800_000_060)
        return attributes
    }
}

/// A session of the focus player on a phone, after its log-in.
private struct PhoneSession {
    var machine: Machine
    private var messageCount = 0

    init() throws {
        machine = Machine(flow: try FocusPlayerFlow.ios(), session: "anna")
        send("event.SpotifyAuthorizationUpdated", ["status": "authorized"])
    }

    mutating func choose(_ playlist: String) {
        send("command.PlaylistSelected", ["playlistID": .string(playlist)])
    }

    /// Handles a message, and the report of each screen that leaves.
    private mutating func send(_ type: String, _ data: JSONValue) {
        handle(type, data)
        for instance in machine.state.leaving.map(\.id) {
            handle("command.ScreenGone", ["instance": .string(instance)])
        }
    }

    private mutating func handle(_ type: String, _ data: JSONValue) {
        messageCount += 1
        let attributes = Machine.Attributes(platform: "ios", device: "ios-1", time: 1_800_000_000_000)
        _ = machine.handle(
            Machine.Input(
                id: "message-\(messageCount)", type: type, subject: "anna", data: data, attributes: attributes))
    }

    func document() throws -> Envelope {
        try Envelope(Document.NavigationState(machine.snapshot), source: "navigation-coordinator/ios")
    }
}
