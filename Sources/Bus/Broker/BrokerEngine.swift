internal import BusProtocol
internal import EventBus
package import Logging

/// The broker without its sockets: requests in, replies and feed messages out.
///
/// All batches of a turn are journalled in one commit, before anything of them goes out.
package struct BrokerEngine {
    package let journal: Journal
    let configuration: BrokerConfiguration
    let clock: BrokerClock
    let logger: Logger
    /// When each producer last said something.
    var heard: [ProducerID: ContinuousClock.Instant] = [:]
    var lastLook: ContinuousClock.Instant
    /// Since when the broker has heard what is said: its start, or its return after an absence.
    var listeningSince: ContinuousClock.Instant
    /// Of the durable consumers that were claimed exclusively; see ``ExclusiveOwner``.
    var owners: [String: ExclusiveOwner] = [:]
    /// The last transient batch of each producer that is heard.
    var transientSequences: [ProducerID: UInt64] = [:]
    /// The topics of transient messages: the journal need not have them.
    var transientTopics = TopicTable()
    var desk = QueryDesk()
    /// What is to be published of the broker's own.
    var notices: [BrokerNotice] = []
    /// When the journal last could not be written; nil once it can.
    var lastWriteFailure: ContinuousClock.Instant?
    /// The offsets of damaged messages that everybody knows of.
    var reportedDamage: Set<UInt64> = []
    var warnedConsumers: Set<String> = []
    var cutOffConsumers: Set<String> = []
    /// Whether retention has more to remove.
    var isPruning = false
    /// When silent producers were last forgotten, or the broker began to listen: whoever lives needs time to say so.
    var lastForgotten: ContinuousClock.Instant
    var garbageCount = 0
    var lastGarbage = ""
    var lastGarbageReport: ContinuousClock.Instant?

    /// - Parameter now: leases and memberships that the journal holds count from here: their owners may have outlived the
    ///   broker.
    package init(
        journal: Journal, configuration: BrokerConfiguration, logger: Logger, clock: BrokerClock,
        now: ContinuousClock.Instant
    ) throws {
        self.journal = journal
        self.configuration = configuration
        self.logger = logger
        // A journal whose end is damaged can no longer be trusted: the first tick says so, and how to save the rest.
        self.clock = clock.notBefore((try? journal.lastTime()) ?? 0, at: now)
        lastLook = now
        listeningSince = now
        lastForgotten = now
        let members = journal.consumers.values.flatMap { $0.producers.values }
        for producer in try journal.leaseOwners() + members {
            heard[producer] = now
        }
    }

    package mutating func handle(_ incoming: [Incoming], now: ContinuousClock.Instant) -> Outgoing {
        var outgoing = Outgoing()
        let head = journal.head
        var (batches, transients): ([IncomingBatch], [IncomingBatch]) = ([], [])
        var others: [(from: Incoming, head: RequestHead, request: Request)] = []
        for message in incoming {
            do {
                let head = try message.head()
                if head.operation == .publish {
                    let batch = IncomingBatch(from: message, head: head, batch: try BatchHead(frames: message.body))
                    if batch.batch.isTransient { transients.append(batch) } else { batches.append(batch) }
                } else {
                    others.append((message, head, try Request(head.operation, body: message.body)))
                }
            } catch {
                noteGarbage(1, error.message)
                outgoing.refuse(message, error)
            }
        }
        publish(batches, now: now, &outgoing)
        passOn(transients, now: now, &outgoing)
        for (message, head, request) in others {
            answer(request, message, head, now: now, &outgoing)
        }
        keepUp(since: head, now: now, &outgoing)
        watchWriting(now: now)
        publishNotices(now: now, &outgoing)
        return outgoing
    }
}
