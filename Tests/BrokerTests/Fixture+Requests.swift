import BusProtocol
import EventBus
import Foundation

@testable import Broker

extension Fixture {
    static func message(
        _ name: String, kind: MessageKind = .event, subject: String = "default", key: String = "", size: Int = 1
    ) -> PublishedMessage {
        let topic = Topic(MessageType(kind: kind, name: name), subject: subject)
        return PublishedMessage(
            topic: topic.name, subject: subject, key: key, header: [1],
            data: Array(repeating: 2, count: size)[...])
    }

    func publish(
        sequence: UInt64, _ names: [String], kind: MessageKind = .event, isLeased: Bool = false,
        checkpoint: CheckpointFrame? = nil, rejection: RejectionFrame? = nil, settling letters: [Int64] = []
    ) -> Reply {
        ask(
            .publish(
                PublishRequest(
                    producer: producer, sequence: sequence, isLeased: isLeased, checkpoint: checkpoint,
                    rejection: rejection, settledLetters: letters,
                    messages: names.map { Self.message($0, kind: kind) })))
    }

    func published(_ offset: UInt64) -> Reply { .published(epoch: journal.epoch, offset: offset) }

    func checkpoint(
        _ consumer: String, owner: UInt64, offset: UInt64, settled: UInt64? = nil, partition: Partition? = nil,
        previous: UInt64? = nil
    ) -> CheckpointFrame {
        CheckpointFrame(
            consumer: consumer, ownerEpoch: owner, epoch: journal.epoch, offset: offset,
            settled: settled ?? offset, partition: partition, previous: previous)
    }

    /// - Returns: nil when the claim was refused.
    func claim(
        _ consumer: String, as member: ConsumerMember = .exclusive, by producer: ProducerID = ProducerID(),
        isRenewal: Bool = false, isLeaving: Bool = false
    ) -> Claimed? {
        let request = ClaimRequest(
            producer: producer, member: member, consumer: consumer,
            purpose: isLeaving ? .leave : isRenewal ? .renewal : .claim)
        guard case .claimed(let claimed) = ask(.claim(request)) else { return nil }
        return claimed
    }

    func read(_ filter: String = "event.", after: UInt64 = 0) -> Page? {
        guard case .page(let page) = ask(.read(PageRequest(epoch: 0, after: after, prefixes: [filter]))) else {
            return nil
        }
        return page
    }

    func document(_ name: String, subject: String = "default", key: String = "") throws -> Page? {
        let type = MessageType(kind: .document, name: name)
        let request = try DocumentRequest(type: type, subject: subject, key: key)
        guard case .page(let page) = ask(.document(request)) else { return nil }
        return page
    }

    /// - Returns: nil when the list was refused.
    func consumers() -> [ConsumerList.Entry]? {
        guard case .consumers(let list) = ask(.consumers) else { return nil }
        return list.consumers
    }

    func documents() -> [FeedMessage] {
        guard case .page(let page) = ask(.documents(PageRequest(epoch: 0, after: 0, prefixes: ["document."]))) else {
            return []
        }
        return page.messages
    }

    func letters(of consumer: String = "", after: Int64 = 0) -> Letters? {
        guard case .letters(let letters) = ask(.letters(LettersRequest(after: after, consumer: consumer))) else {
            return nil
        }
        return letters
    }
}
