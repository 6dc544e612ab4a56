internal import CCurl
internal import Foundation
internal import Synchronization

/// The thread on which libcurl works. It owns the multi handle, which keeps connections open between transfers.
///
/// Other threads put orders into a mailbox and wake the thread. It sleeps in `curl_multi_poll` until a socket, a timer
/// of libcurl or another thread wakes it.
final class TransferThread: Sendable {
    private struct Mailbox {
        var orders: [TransferOrder] = []
        var cancelled: [UInt64] = []
        var isStopping = false
        /// True if the thread no longer reads the mailbox.
        var isClosed = false
    }

    private static let ids = Atomic<UInt64>(0)
    /// True if libcurl has been initialised. Initialisation must happen once, before any other function of libcurl is
    /// called (libcurl-thread(3)).
    private static let isInitialised = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    private let mailbox = Mutex(Mailbox())
    private let authorities: String?
    /// Used only by the thread of ``run()``, which frees it. Other threads only call `curl_multi_wakeup`, which is
    /// thread-safe, and only while they hold the mailbox's lock and the mailbox is not closed.
    nonisolated(unsafe) private let multi: UnsafeMutableRawPointer

    /// - Parameter authorities: The path of a file of PEM certificates to trust instead of the system's; nil to trust
    ///   the system's.
    init(authorities: String?) throws {
        guard Self.isInitialised, let multi = curl_multi_init() else { throw HTTPClient.Failure.unusable }
        self.multi = multi
        self.authorities = authorities
    }

    static func nextID() -> UInt64 {
        ids.add(1, ordering: .relaxed).newValue
    }

    /// Starts the thread, and returns when it has ended: after ``stop()``, or because libcurl failed.
    func run() async {
        await withCheckedContinuation { ended in
            let thread = Thread {
                self.work()
                ended.resume()
            }
            thread.name = "http"
            thread.start()
        }
    }

    func stop() {
        tell { $0.isStopping = true }
    }

    func submit(_ order: TransferOrder) {
        if !tell({ $0.orders.append(order) }) {
            order.continuation.resume(throwing: HTTPClient.Failure.closed)
        }
    }

    /// Ends a transfer with `CancellationError`, if it is under way.
    func cancel(_ id: UInt64) {
        tell { $0.cancelled.append(id) }
    }

    /// - Returns: True if the thread will read the change.
    @discardableResult
    private func tell(_ change: (inout Mailbox) -> Void) -> Bool {
        mailbox.withLock { mailbox in
            guard !mailbox.isClosed else { return false }
            change(&mailbox)
            curl_multi_wakeup(multi)
            return true
        }
    }

    /// - Returns: The mail since the last call. Mail that asks the thread to stop closes the mailbox, so it is the
    ///   last.
    private func drainMail() -> Mailbox {
        mailbox.withLock { mailbox in
            defer { mailbox = Mailbox(isClosed: mailbox.isStopping) }
            return mailbox
        }
    }

    private func work() {
        Self.blockPipeSignal()
        var transfers: [UInt64: Transfer] = [:]
        var failure = HTTPClient.Failure.closed
        while true {
            let mail = drainMail()
            for order in mail.orders {
                transfers[order.id] = Transfer(order, authorities: authorities, multi: multi)
            }
            for id in mail.cancelled {
                transfers.removeValue(forKey: id)?.end(throwing: CancellationError())
            }
            if mail.isStopping { break }
            guard transferAndWait(&transfers) else {
                failure = .unusable
                stop()
                continue
            }
        }
        for transfer in transfers.values { transfer.end(throwing: failure) }
        transfers = [:]
        curl_multi_cleanup(multi)
    }

    /// Advances all transfers, ends those that are complete, then sleeps until there is more to do.
    /// - Returns: False if libcurl failed for all transfers at once.
    private func transferAndWait(_ transfers: inout [UInt64: Transfer]) -> Bool {
        var count: Int32 = 0
        guard curl_multi_perform(multi, &count) == CURLM_OK else { return false }
        while let message = curl_multi_info_read(multi, &count) {
            guard message.pointee.msg == CURLMSG_DONE else { continue }
            let (handle, result) = (message.pointee.easy_handle, message.pointee.data.result)
            guard let id = transfers.first(where: { $0.value.owns(handle) })?.key else { continue }
            transfers.removeValue(forKey: id)?.end(with: result)
        }
        return curl_multi_poll(multi, nil, 0, 60_000, nil) == CURLM_OK
    }

    /// Blocks SIGPIPE on this thread.
    private static func blockPipeSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
