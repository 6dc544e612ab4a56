internal import EventBus
internal import Synchronization

/// What a subscription has lost since somebody last looked: summed up by type, so that it takes no more room the worse it
/// gets.
final class LossBoard: Sendable {
    private struct Losses {
        var recovered: [MessageType: Int] = [:]
        var removed: [MessageType: UInt64] = [:]
    }

    private let losses = Mutex(Losses())
    /// Something new stands here.
    let news: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    init() {
        (news, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func note(_ notice: SubscriptionNotice) {
        losses.withLock { losses in
            switch notice {
            case .recovered(let type, let count): losses.recovered[type, default: 0] += count
            case .removed(let type, let offset): losses.removed[type] = max(losses.removed[type] ?? 0, offset)
            }
        }
        wake.yield()
    }

    func take() -> [SubscriptionNotice] {
        let taken = losses.withLock { losses in
            defer { losses = Losses() }
            return losses
        }
        let notices =
            taken.recovered.map { SubscriptionNotice.recovered($0, count: $1) }
            + taken.removed.map { SubscriptionNotice.removed($0, through: $1) }
        return notices.sorted { "\($0)" < "\($1)" }
    }
}
