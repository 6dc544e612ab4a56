/// The part that a process plays in a benchmark.
package enum PeerRole: String, CaseIterable, Sendable {
    /// Answers each command with an event.
    case busEcho = "bus-echo"
    /// Sends commands, one after the other, and waits for their answers.
    case busClient = "bus-client"
    case busPublisher = "bus-publisher"
    case busSubscriber = "bus-subscriber"
    /// Fills a journal as fast as the broker takes it.
    case journalFiller = "journal-filler"

    /// XSUB and XPUB in place of the broker.
    case bareProxy = "bare-proxy"
    case bareEcho = "bare-echo"
    case bareClient = "bare-client"
    case barePublisher = "bare-publisher"
    case bareSubscriber = "bare-subscriber"
    /// SQLite without a bus.
    case bareJournal = "bare-journal"
}
