import BusFormat
import BusProtocol
import EventBus
import Foundation
import TestSupport

/// Creates valid requests of the operations that clients send, as several clients of one journal would send them.
struct RequestSource {
    private var producers: [(id: ProducerID, sequence: UInt64, transient: UInt64)]
    private let members: [ConsumerMember]
    private var openQueries: [UInt64] = []
    private var deadLetters: [Int64] = []
    /// The reply to the last claim of each consumer.
    private var claims: [String: Claimed] = [:]
    /// The indices of the producers of the batches, by the id of their request.
    private var publishers = [Int](repeating: 0, count: Int(Self.idCount))

    /// The consumers of the claims, by the id of their request.
    private var claimed = [String](repeating: "", count: Int(Self.idCount))

    /// The number of request ids. Ids repeat, as if a client sent a request twice.
    static let idCount: UInt64 = 50

    private static let consumers = ["music", "auth", "navigation", "länger"]
    private static let subjects = ["default", "amélie", "", "s1", "s2"]

    init(_ generator: inout SeededGenerator) {
        producers = (0..<4).map { _ in (ProducerID(UUID(generator.next(), generator.next())), 0, 0) }
        members = (0..<4).map { ConsumerMember($0 % 2 == 0 ? .shared : .exclusive, id: UUID(7, $0)) }
    }

    /// Stores the parts of a reply that later requests refer to.
    mutating func learn(_ frames: [[UInt8]]) {
        if case .query(let id, _, _)? = try? Notice(frames) { openQueries = openQueries.suffix(20) + [id] }
        guard let (id, reply) = try? Reply.read(frames) else { return }
        switch reply {
        case .deadLetters(let page): deadLetters = page.deadLetters.map(\.id)
        case .claimed(let claimed) where id < Self.idCount && claimed.ownerGeneration > 0:
            claims[self.claimed[Int(id)]] = claimed
        case .refused(let error) where error.code == .sequence && id < Self.idCount:
            // A batch of this producer was changed on its way: continue with the sequence that the broker expects.
            let expected = error.message.split(separator: " ").dropFirst().first.flatMap { UInt64($0) } ?? 1
            producers[publishers[Int(id)]].sequence = expected - 1
        default: break
        }
    }

    mutating func next(id: UInt64, epoch: UInt64, head: UInt64, _ generator: inout SeededGenerator) -> Request {
        let after = UInt64.random(in: 0...head, using: &generator)
        let producer = producers[Int.random(in: 0..<producers.count, using: &generator)].id
        switch Int.random(in: 0..<22, using: &generator) {
        case 0: return .hello(Greeting(producer: producer, epoch: epoch, offset: after))
        case 1: return .bye(Greeting(producer: producer, epoch: epoch, offset: after))
        case 2: return .read(PageRequest(epoch: epoch, after: after, prefixes: filters(&generator)))
        case 3: return .heads(PageRequest(epoch: 0, after: after, prefixes: filters(&generator)))
        case 4: return .documents(PageRequest(epoch: epoch, after: 0, prefixes: ["document."]))
        case 5, 6:
            let request = claim(producer, &generator)
            claimed[Int(id)] = request.consumer
            return .claim(request)
        case 7 where generator.chance(1, in: 2): return .end
        case 7: return .locate(UInt64(Date().timeIntervalSince1970 * 1000) - after)
        case 8 where generator.chance(1, in: 3):
            return .countDeadLetters(Self.consumers.randomElement(using: &generator) ?? "")
        case 8 where generator.chance(1, in: 2): return .listDeadLetters(DeadLettersRequest(after: 0, consumer: ""))
        case 8: return .deadLetters(DeadLettersRequest(after: 0, consumer: generator.chance(1, in: 2) ? "" : "music"))
        case 9: return .serve(ServeRequest(producer: producer, types: [MessageType(kind: .query, name: "Songs")]))
        case 10: return .ask(AskRequest(timeout: 5000, query: message(.query, "Songs", &generator)))
        case 11: return .answer(QueryAnswer(query: openQueries.last ?? 0, content: .message(header: [1], data: [2])))
        case 12: return .cancel(generator.next() % 50)
        case 13 where generator.chance(1, in: 2):
            return .count(PageRequest(epoch: epoch, after: after, prefixes: filters(&generator)))
        case 13: return document(epoch: epoch, &generator) ?? .consumers
        case 14 where generator.chance(1, in: 4):
            return .forget(Self.consumers.randomElement(using: &generator) ?? "")
        default:
            publishers[Int(id)] = Int.random(in: 0..<producers.count, using: &generator)
            return .publish(batch(of: publishers[Int(id)], epoch: epoch, head: head, &generator))
        }
    }

    private func filters(_ generator: inout SeededGenerator) -> [String] {
        ["event.", "event.A.", "document.", "command.B."].filter { _ in generator.chance(1, in: 2) }
    }

    private func document(epoch: UInt64, _ generator: inout SeededGenerator) -> Request? {
        try? .document(
            DocumentRequest(
                epoch: generator.chance(1, in: 2) ? epoch : 0, type: MessageType(kind: .document, name: "A"),
                subject: Self.subjects.randomElement(using: &generator) ?? "",
                key: generator.chance(1, in: 4) ? "key" : ""))
    }

    private func claim(_ producer: ProducerID, _ generator: inout SeededGenerator) -> ClaimRequest {
        ClaimRequest(
            producer: producer, member: members[Int.random(in: 0..<members.count, using: &generator)],
            consumer: Self.consumers.randomElement(using: &generator) ?? "",
            purpose: [.claim, .claim, .renewal, .renewal, .leave].randomElement(using: &generator) ?? .claim)
    }

    private func message(
        _ kind: MessageKind, _ name: String, _ generator: inout SeededGenerator
    ) -> PublishedMessage {
        let subject = Self.subjects.randomElement(using: &generator) ?? ""
        let size = generator.chance(1, in: 5000) ? Limits.dataSize : Int.random(in: 0...200, using: &generator)
        return PublishedMessage(
            topic: Topic(MessageType(kind: kind, name: name), subject: subject).name, subject: subject,
            key: generator.chance(1, in: 4) ? "key" : "", header: Array("{}".utf8)[...],
            data: Array(repeating: UInt8(ascii: "x"), count: size)[...])
    }

    private mutating func batch(
        of index: Int, epoch: UInt64, head: UInt64, _ generator: inout SeededGenerator
    ) -> PublishRequest {
        let isTransient = generator.chance(1, in: 6)
        let kinds: [MessageKind] = isTransient ? [.event, .command] : [.event, .command, .error, .document]
        let messages = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
            message(
                kinds.randomElement(using: &generator) ?? .event, ["A", "B"].randomElement(using: &generator) ?? "",
                &generator)
        }
        guard !isTransient else {
            producers[index].transient += 1
            return PublishRequest(
                producer: producers[index].id, sequence: producers[index].transient, isTransient: true,
                messages: messages)
        }
        producers[index].sequence += 1
        let checkpoint = generator.chance(1, in: 3) ? checkpoint(epoch: epoch, head: head, &generator) : nil
        return PublishRequest(
            producer: producers[index].id, sequence: producers[index].sequence, isLeased: generator.chance(1, in: 3),
            checkpoint: checkpoint,
            rejection: checkpoint != nil && generator.chance(1, in: 4)
                ? RejectionFrame(attempts: 3, code: "message.malformed", reason: "no") : nil,
            resolvedDeadLetters: generator.chance(1, in: 4) ? deadLetters : [], messages: messages)
    }

    private func checkpoint(epoch: UInt64, head: UInt64, _ generator: inout SeededGenerator) -> CheckpointFrame {
        let consumer = Self.consumers.randomElement(using: &generator) ?? ""
        let claim = claims[consumer]
        let offset = UInt64.random(in: (head - min(head, 50))...head, using: &generator)
        return CheckpointFrame(
            consumer: consumer, ownerGeneration: claim?.ownerGeneration ?? 1, epoch: epoch, offset: offset,
            settled: offset,
            partition: claim?.offsets.keys.min(), previous: generator.chance(1, in: 4) ? offset / 2 : nil)
    }
}

extension UUID {
    fileprivate init(_ high: UInt64, _ low: some BinaryInteger) {
        let numbers = (high, UInt64(truncatingIfNeeded: low))
        self = withUnsafeBytes(of: numbers) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
