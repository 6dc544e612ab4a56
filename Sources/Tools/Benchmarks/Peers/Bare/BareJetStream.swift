internal import BusFormat
internal import CJetStreamPeer
internal import EventBus
internal import Foundation
internal import NATSLayout

/// A connection of the C program on libnats that is the baseline on NATS.
///
/// One thread at a time uses it.
struct BareJetStream: ~Copyable {
    let namespace: String
    private let pointer: OpaquePointer

    /// - Parameters:
    ///   - address: `nats://HOST:PORT/NAME`, with one host.
    ///   - sendsAtOnce: True to send each message at once, as the bus does. False to let libnats collect messages.
    init(_ address: String, sendsAtOnce: Bool = true) throws {
        let address = try NATSAddress(address)
        guard let pointer = js_open(address.urls[0], ProducerID().hexadecimal, sendsAtOnce) else { throw Self.failure }
        self.pointer = pointer
        namespace = address.namespace
    }

    deinit { js_close(pointer) }

    /// Stores batches, and returns when all are acknowledged. At most one batch of a partition is under way.
    func publish(_ batches: borrowing BareBatches, window: Int) throws {
        guard js_publish(pointer, batches.items, Int32(batches.items.count), Int32(window)) == 0 else {
            throw Self.failure
        }
    }

    /// Stores one batch.
    func store(_ batches: borrowing BareBatches) throws {
        guard js_store(pointer, batches.items) == 0 else { throw Self.failure }
    }

    /// Sends batches that are not stored.
    func send(_ batches: borrowing BareBatches) throws {
        guard js_send(pointer, batches.items, Int32(batches.items.count)) == 0 else { throw Self.failure }
    }

    /// Sends messages that are not stored, each as one message of NATS, and returns when the server has received them.
    /// - Parameter body: The header and the data of the first message. Afterwards it has the number of the next one.
    func send(_ count: Int, from body: inout [UInt8], on subject: String) throws {
        let place = Int32(body.count - Payload.size + Payload.numberPlace)
        guard js_send_plain(pointer, subject, &body, Int32(body.count), place, Int32(Payload.digits), Int64(count)) == 0
        else { throw Self.failure }
    }

    /// Reads messages of a type from the journal, with the same filters as the bus.
    borrowing func read<Result>(
        _ type: MessageType, isFromBeginning: Bool, _ body: (borrowing Reader) throws -> Result
    ) throws -> Result {
        let filters = SubjectFilters([.type(type)]).texts(in: namespace).map { strdup($0) }
        defer { for filter in filters { free(filter) } }
        let texts = filters.map { UnsafePointer($0) }
        guard let reader = js_read_stream(pointer, namespace, texts, Int32(texts.count), isFromBeginning) else {
            throw Self.failure
        }
        return try body(Reader(reader))
    }

    borrowing func readTransientMessages<Result>(_ body: (borrowing Reader) throws -> Result) throws -> Result {
        try read("\(namespace).t.>", body)
    }

    borrowing func read<Result>(_ subject: String, _ body: (borrowing Reader) throws -> Result) throws -> Result {
        guard let reader = js_read_subject(pointer, subject) else { throw Self.failure }
        return try body(Reader(reader))
    }

    /// A subscription. It must end before its connection, so it lasts only for the call of a closure: Swift may destroy
    /// a connection after its last use, before a reader that is used later.
    struct Reader: ~Copyable {
        private let pointer: OpaquePointer

        fileprivate init(_ pointer: OpaquePointer) {
            self.pointer = pointer
        }

        deinit { js_stop_reading(pointer) }

        /// Counts messages until all have arrived, or, after the first one, none arrives for `patience` milliseconds.
        func count(_ expected: Int, readsAttributes: Bool, patience: Int) throws -> Report {
            var tally = js_tally()
            let result = js_count(
                pointer, Int64(expected), readsAttributes, Int32(Payload.numberPlace), Int32(Payload.digits),
                Int32(patience), &tally)
            guard result == 0 else { throw failure }
            return Report(tally)
        }

        /// Does the same for messages that are each one message of NATS.
        /// - Parameter headerCount: The size of the header, in bytes.
        func countPlain(_ expected: Int, headerCount: Int, patience: Int) throws -> Report {
            var tally = js_tally()
            let place = Int32(headerCount + Payload.numberPlace)
            guard js_count_plain(pointer, Int64(expected), place, Int32(Payload.digits), Int32(patience), &tally) == 0
            else { throw failure }
            return Report(tally)
        }

        /// Waits for the next message of NATS.
        /// - Returns: The number in the data of its last message.
        func nextNumber() throws -> Int {
            var delivery = js_delivery()
            var result: Int32 = 0
            while result == 0 { result = js_next(pointer, 10_000, &delivery) }
            guard result == 1 else { throw failure }
            // The data is the end of the body.
            let body = UnsafeRawBufferPointer(start: delivery.body, count: Int(delivery.size))
            return Payload.number(in: UnsafeRawBufferPointer(rebasing: body.suffix(Payload.size)))
        }
    }

    private static var failure: BenchmarkError { BenchmarkError(String(cString: js_error())) }
}

extension Report {
    fileprivate init(_ tally: js_tally) {
        self.init(begin: tally.begin, end: tally.end, count: Int(tally.count), misordered: Int(tally.misordered))
    }
}

/// The messages of NATS for batches of the bus: the same subjects and the same bytes.
struct BareBatches: ~Copyable {
    private(set) var items: [js_batch] = []

    /// - Parameter size: The maximum number of messages in a batch.
    init(_ numbers: Range<Int>, size: Int, _ order: PeerOrder, in namespace: String) throws {
        let sessions = order.sessions
        var index = 0
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: size) {
            let messages = try (start..<min(start + size, numbers.upperBound)).map {
                try Envelope(
                    BenchmarkEvent(number: Payload.firstNumber + $0), source: "bench/1",
                    subject: sessions[index % sessions.count])
            }
            try append(messages, isTransient: order.isTransient, isShort: order.isShort, in: namespace)
            index += 1
        }
    }

    /// One batch with one message.
    init(_ message: Envelope, in namespace: String) throws {
        try append([message], isTransient: false, isShort: false, in: namespace)
    }

    deinit {
        for item in items {
            free(UnsafeMutablePointer(mutating: item.subject))
            UnsafeMutableRawPointer(mutating: item.body)?.deallocate()
        }
    }

    private mutating func append(
        _ messages: [Envelope], isTransient: Bool, isShort: Bool, in namespace: String
    ) throws {
        let tokens = MessageTokens(of: messages)
        let subject: BusSubject = isTransient ? .transient(tokens) : .batch(tokens)
        let packed =
            try isShort
            ? PackedMessages(messages.map { try PublishedMessage($0).shortened($0) })
            : PackedMessages(messages, isTransient: isTransient)
        let body = UnsafeMutableRawBufferPointer.allocate(byteCount: packed.bytes.count, alignment: 8)
        body.copyBytes(from: packed.bytes)
        items.append(
            js_batch(
                subject: strdup(subject.text(in: namespace)),
                lane: Int32(Partition(subject: messages[0].subject).number), count: Int32(messages.count),
                body: body.baseAddress, size: Int32(body.count)))
    }

    /// Replaces the number in the only message of the only batch.
    func write(_ number: Int) {
        guard let item = items.first, let body = UnsafeMutableRawPointer(mutating: item.body) else { return }
        let bytes = UnsafeMutableRawBufferPointer(start: body, count: Int(item.size))
        Payload.write(number, into: UnsafeMutableRawBufferPointer(rebasing: bytes.suffix(Payload.size)))
    }
}

/// Publishes as ``BusPublisher`` does.
struct JetStreamPublisher {
    let address: String

    func run(_ control: Control) throws {
        let peer = try BareJetStream(address)
        try control.send()
        var prepared: BareBatches?
        var order = PeerOrder.prepare(0)
        while let next = try control.waitForOrder() {
            switch next.action {
            case .prepare:
                order = next
                prepared = try BareBatches(0..<order.count, size: BusPublisher.batchSize, order, in: peer.namespace)
                try control.send()
            case .run:
                guard let batches = prepared.take() else { throw BenchmarkError("nothing is prepared") }
                var report = Report(begin: MonotonicTime.now, count: order.count)
                if order.isTransient {
                    try peer.send(batches)
                } else {
                    try peer.publish(batches, window: BusPublisher.window)
                }
                report.end = MonotonicTime.now
                try control.send(report)
            }
        }
    }
}

/// Fills a journal. All messages have the same subject, so a reader receives them in the order of their numbers.
struct JetStreamFiller {
    /// The number of messages that are prepared together.
    private static let portion = 50 * JournalFiller.batchSize

    let address: String

    func run(_ control: Control) throws {
        let peer = try BareJetStream(address)
        try control.send()
        while let order = try control.waitForOrder() {
            var report = Report(begin: MonotonicTime.now, count: order.count)
            for start in stride(from: 0, to: order.count, by: Self.portion) {
                let numbers = start..<min(start + Self.portion, order.count)
                let batches = try BareBatches(numbers, size: JournalFiller.batchSize, order, in: peer.namespace)
                try peer.publish(batches, window: JournalFiller.window)
            }
            report.end = MonotonicTime.now
            try control.send(report)
        }
    }
}

/// Counts messages as ``BusSubscriber`` does, with one thread for each connection.
struct JetStreamSubscriber {
    let address: String
    let connections: Int

    func run(_ control: Control) throws {
        try control.send()
        while let order = try control.waitForOrder() {
            let begin = MonotonicTime.now
            let threads = (0..<connections).map { _ in ReadingThread(address, order) }
            for thread in threads { try thread.waitUntilLive() }
            try control.send()
            guard let next = try control.waitForOrder() else { return }
            var report = Report(merging: try threads.map { try $0.report(patience: next.patience) })
            if order.isFromBeginning { report.begin = begin }
            try control.send(report)
        }
    }

    /// A thread with a connection and a subscription.
    private final class ReadingThread: Sendable {
        private let live = Handover<Void>()
        private let patience = Handover<Int>()
        private let done = Handover<Report>()

        init(_ address: String, _ order: PeerOrder) {
            Thread { [live, patience, done] in
                let result = Result<Report, any Error> {
                    let peer = try BareJetStream(address)
                    func count(_ reader: borrowing BareJetStream.Reader) throws -> Report {
                        live.put(.success(()))
                        return try reader.count(
                            order.count, readsAttributes: order.readsAttributes, patience: try patience.waitForValue())
                    }
                    if order.isTransient { return try peer.readTransientMessages(count) }
                    return try peer.read(BenchmarkEvent.type, isFromBeginning: order.isFromBeginning, count)
                }
                if case .failure(let error) = result { live.put(.failure(error)) }
                done.put(result)
            }.start()
        }

        func waitUntilLive() throws { try live.waitForValue() }

        func report(patience milliseconds: Int) throws -> Report {
            patience.put(.success(milliseconds))
            return try done.waitForValue()
        }
    }
}

/// A value that one thread gives to another, which waits for it.
///
/// - Note: `@unchecked Sendable`: `result` is used only while `condition` is locked.
private final class Handover<Value: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    private var result: Result<Value, any Error>?

    func put(_ result: Result<Value, any Error>) {
        condition.lock()
        if self.result == nil { self.result = result }
        condition.signal()
        condition.unlock()
    }

    func waitForValue() throws -> Value {
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let result { return try result.get() }
            condition.wait()
        }
    }
}

/// The client of the bare round trip on NATS.
struct JetStreamClient {
    let address: String

    func run(_ control: Control) throws {
        let peer = try BareJetStream(address)
        let request = try BareBatches(
            JetStreamEcho.message(JetStreamEcho.request, BenchmarkRequest(number: Payload.firstNumber)),
            in: peer.namespace)
        try peer.read(JetStreamEcho.answer, isFromBeginning: false) { answers in
            try control.send()
            while let order = try control.waitForOrder() {
                var latencies: [Int64] = []
                latencies.reserveCapacity(order.count)
                for index in 0..<order.count {
                    let begin = MonotonicTime.now
                    request.write(Payload.firstNumber + index)
                    try peer.store(request)
                    guard try answers.nextNumber() == Payload.firstNumber + index else {
                        throw BenchmarkError("the next event is not the answer to the request")
                    }
                    latencies.append(MonotonicTime.now - begin)
                }
                try control.send(Report(latencies: latencies))
            }
        }
    }
}

/// The handler of the bare round trip on NATS.
struct JetStreamEcho {
    /// The types differ from those of the round trip on the bus, because both peers listen all the time. Their names
    /// have the same lengths.
    static let request = MessageType(kind: .command, name: "BenchmarkInquiry")
    static let answer = MessageType(kind: .event, name: "BenchmarkReply")

    let address: String

    /// A message with another type than its data has.
    static func message(_ type: MessageType, _ data: some Message) throws -> Envelope {
        var envelope = try Envelope(data, source: "bench/1")
        envelope.attributes.type = type
        return envelope
    }

    func run(_ control: Control) throws {
        let peer = try BareJetStream(address)
        let answer = try BareBatches(
            Self.message(Self.answer, BenchmarkEvent(number: Payload.firstNumber)), in: peer.namespace)
        try peer.read(Self.request, isFromBeginning: false) { requests in
            try control.send()
            while true {
                answer.write(try requests.nextNumber())
                try peer.store(answer)
            }
        }
    }
}
