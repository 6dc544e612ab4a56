internal import BusFormat
internal import BusKeys
internal import BusProtocol
internal import EventBus
internal import Foundation
internal import Support
internal import ZeroMQ
internal import ZeroMQEventBus

/// Fills the journal of a broker with requests of the wire protocol.
struct JournalFiller {
    /// The maximum number of messages in a batch. Further messages are sent in further batches.
    static let batchSize = 1000
    /// The maximum number of batches that are not yet acknowledged. The next batch waits for an acknowledgement.
    static let window = 8

    static let shortData = Array("{}".utf8)

    let address: String

    /// The options for the key file of this process; empty on a bus without keys.
    private static var keyOptions: [SocketOption] {
        get throws {
            guard let path = ProcessInfo.processInfo.environment[KeyFilePlace.variable] else { return [] }
            return try KeyFile(path: path).options
        }
    }

    func run(_ control: Control) throws {
        let socket = try Socket(.dealer, options: try Self.keyOptions + [.linger(0)])
        try socket.connect(try BusAddress(address).ingress)
        try control.send()
        while let order = try control.waitForOrder() {
            try control.send(try fill(order, socket))
        }
    }

    private func fill(_ order: PeerOrder, _ socket: Socket) throws -> Report {
        let event = try Envelope(BenchmarkEvent(number: Payload.firstNumber), source: "bench/1")
        let full = try PublishedMessage(event)
        let short = full.shortened(event)
        let count = order.count
        let (producer, replies) = (ProducerID(), SocketPoll([socket]))
        let begin = MonotonicTime.now
        var (sent, answered, sequence) = (0, 0, UInt64(0))
        while answered * Self.batchSize < count {
            if sent < count, Int(sequence) - answered < Self.window {
                let indices = sent..<min(sent + Self.batchSize, count)
                let messages = indices.map { order.isShort ? short : full.numbered($0) }
                let batch = PublishRequest(producer: producer, sequence: sequence + 1, messages: messages)
                if try socket.send(Request.publish(batch).frames(id: sequence + 1)) {
                    sent += messages.count
                    sequence += 1
                    continue
                }
            }
            _ = try replies.wait(milliseconds: -1)
            while let frames = try socket.receive() {
                if case .refused(let error) = try Reply.read(frames).reply {
                    throw BenchmarkError("the broker refused a batch for the journal: \(error.message)")
                }
                answered += 1
            }
        }
        return Report(begin: begin, end: MonotonicTime.now, count: sent)
    }
}

extension PublishedMessage {
    fileprivate func numbered(_ index: Int) -> PublishedMessage {
        var data = Array(data)
        Payload.write(Payload.firstNumber + index, into: &data)
        return PublishedMessage(topic: topic, subject: subject, key: key, header: header, data: data[...])
    }

    /// The message with only the attributes that CloudEvents requires, and with an empty object as data.
    func shortened(_ event: Envelope) -> PublishedMessage {
        let header = #"{"id":"1","source":"bench","specversion":"1.0","type":"\#(event.type)"}"#
        return PublishedMessage(
            topic: topic, subject: subject, key: key, header: Array(header.utf8)[...],
            data: JournalFiller.shortData[...])
    }
}
