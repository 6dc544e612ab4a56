internal import BusFormat
internal import BusProtocol
internal import EventBus
internal import Logging

/// The actions of each input of ``ClientStateMachine``. ``ZeroMQEventBus`` performs them.
extension ClientStateMachine {
    /// Requests to send on the ingress, in their order. Part of the actions of most inputs.
    struct Sendings {
        /// The owner calls ``recordSent(_:at:)`` for each that the socket has accepted, or ``block()`` if it must wait.
        var requests: [Outbox.Sending] = []
        /// True if ``wake(at:)`` must be called after ``Resending/shortestWait``.
        var wakes = false
    }

    struct LogEntry {
        let level: Logger.Level
        let message: Logger.Message
        let metadata: Logger.Metadata
    }

    /// The action of ``leave()``.
    enum LeaveAction {
        case close
        /// Sends the good-bye, and calls ``close()`` after the time, or at once if it is zero.
        case sendBye(Sendings, closeAfter: Duration)
        /// The good-bye was sent before, or the bus is closed.
        case none
    }

    /// Everything that waited for the broker. Each caller and reader gets `error`.
    struct CloseActions {
        /// The requests whose callers wait.
        let requests: [UInt64]
        /// The subscriptions that are not live.
        let unconfirmed: [UInt64]
        /// The live subscriptions.
        let live: [UInt64]
        let error: BusError
    }

    /// The action of ``ask(_:publishing:id:)``.
    enum AskAction {
        case send(Sendings)
        /// The request waits until the socket or the outbox has room.
        case wait
        case fail(BusError)
    }

    /// The action of ``cancel(_:)``.
    enum CancelAction {
        /// The caller gets the error of the cancellation. If the request is a query that was sent, the broker is told.
        case fail(Sendings)
        /// No caller waits for the request.
        case none
    }

    /// The actions of ``tick(at:settled:)``, in the order in which they are performed.
    struct TickActions {
        var log: [LogEntry] = []
        var endedWaits: [SubscriptionTable.EndedWait] = []
        var feed: [FeedAction] = []
        /// True if the socket of the ingress is replaced by a new one before requests are sent.
        var renewsIngress = false
        var sendings = Sendings()
    }

    /// A change of the feed's socket. The topic prefixes are subscribed to in the order of the array.
    enum FeedAction {
        case subscribe([String])
        case unsubscribe([String])
        /// Replaces the socket by a new one, which subscribes to the prefixes before it connects.
        case renew([String])
    }

    /// The actions of ``receive(_:to:at:)`` for a reply, in the order in which they are performed.
    struct ReplyActions {
        var log: [LogEntry] = []
        /// Callers that get an error.
        var failures: [(id: UInt64, error: BusError)] = []
        /// The request whose caller gets the reply; nil if no caller waits for it.
        var answeredID: UInt64?
        /// The losses of a subscription; nil if there are none.
        var notices: (subscription: UInt64, notices: [SubscriptionNotice])?
        var endedWaits: [SubscriptionTable.EndedWait] = []
        /// True if the good-bye is answered: calls ``close()``. Then nothing is sent.
        var closes = false
        var sendings = Sendings()
    }

    /// The action of ``subscribe(_:id:)``.
    enum SubscribeAction {
        /// Subscribes to the prefixes on the feed. The caller waits until ``confirm(inbox:epoch:head:)``.
        case subscribe([String])
        case refuse(BusError)
    }

    /// The actions of ``wait(for:number:)``.
    struct WaitActions {
        /// The end of the wait; nil if the reader must wait.
        var result: Subscription.HandOver?
        var sendings = Sendings()
    }

    /// The actions of ``confirm(inbox:epoch:head:)``.
    struct ConfirmActions {
        enum Outcome {
            case live(subscription: UInt64)
            case refused(subscription: UInt64, BusError)
        }

        /// The prefixes to unsubscribe from on the feed.
        var unsubscribed: [String] = []
        /// The caller that has waited for its subscription to become live; nil if the answer is for no caller.
        var outcome: Outcome?
        var sendings = Sendings()
    }

    /// The actions of ``receive(live:)``.
    struct LiveActions {
        var endedWaits: [SubscriptionTable.EndedWait] = []
        var sendings = Sendings()
    }

    /// The actions of ``removeServer(_:)``.
    struct RemoveServerActions {
        /// The queries whose work ends.
        var stopped: [UInt64] = []
        var sendings = Sendings()
    }

    /// The action of ``receive(_:at:)`` for a notice. Queries are identified by the broker's number.
    enum NoticeAction {
        case work(query: UInt64, PublishedMessage, VerifiedOrigin?, server: UInt64)
        case stopWork(query: UInt64)
        /// Sends the refusal of a query.
        case refuse(Sendings)
        /// The query was received before.
        case none
    }
}
