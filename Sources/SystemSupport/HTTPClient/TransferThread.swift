internal import CCurl
internal import Foundation
internal import Synchronization

/// The thread on which libcurl works: it owns the multi handle, which keeps connections open between transfers.
///
/// Other threads leave orders in a mailbox and wake it. It sleeps in `curl_multi_poll` until a socket, a timer of
/// libcurl's or an order wakes it.
final class TransferThread: Sendable {
    private struct Mailbox {
        var orders: [TransferOrder] = []
        var cancelled: [UInt64] = []
        var isStopping = false
    }

    /// More transfers wait for a free connection, within their deadlines.
    private static let maximumConnections = 32
    private static let ids = Atomic<UInt64>(0)
    /// Before any other function of libcurl, and once (libcurl-thread(3)).
    private static let isInitialised = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    private let mailbox = Mutex(Mailbox())
    private let authorities: String?
    /// Used by the thread of ``run()``. Only `curl_multi_wakeup`, which is thread-safe, is called by others, and the
    /// handle lives as long as `self`.
    nonisolated(unsafe) private let multi: UnsafeMutableRawPointer

    /// - Parameter authorities: a file of PEM certificates to trust instead of the system's.
    init(authorities: String?) throws {
        guard Self.isInitialised, let multi = curl_multi_init() else {
            throw HTTPClient.Failure(code: .broken, description: "libcurl cannot be initialised")
        }
        segue_curl_set_multi_number(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, Self.maximumConnections)
        self.multi = multi
        self.authorities = authorities
    }

    deinit {
        curl_multi_cleanup(multi)
    }

    static func nextID() -> UInt64 {
        ids.add(1, ordering: .relaxed).newValue
    }

    /// Works until ``stop()``.
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
        tell { $0.orders.append(order) }
    }

    /// Ends a transfer, if it is under way, with `CancellationError`.
    func cancel(_ id: UInt64) {
        tell { $0.cancelled.append(id) }
    }

    private func tell(_ change: (inout Mailbox) -> Void) {
        mailbox.withLock { change(&$0) }
        curl_multi_wakeup(multi)
    }

    private func work() {
        Self.blockPipeSignal()
        var transfers: [UInt64: Transfer] = [:]
        while true {
            let mail = mailbox.withLock { mailbox in
                defer { mailbox = Mailbox(isStopping: mailbox.isStopping) }
                return mailbox
            }
            for order in mail.orders {
                if mail.isStopping {
                    order.continuation.resume(throwing: HTTPClient.Failure.closed)
                } else if let transfer = Transfer(order, authorities: authorities, multi: multi) {
                    transfers[order.id] = transfer
                }
            }
            for id in mail.cancelled {
                transfers.removeValue(forKey: id)?.end(throwing: CancellationError())
            }
            if mail.isStopping {
                for transfer in transfers.values { transfer.end(throwing: HTTPClient.Failure.closed) }
                return
            }
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            finishTransfers(&transfers)
            curl_multi_poll(multi, nil, 0, 60_000, nil)
        }
    }

    private func finishTransfers(_ transfers: inout [UInt64: Transfer]) {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE else { continue }
            let result = message.pointee.data.result
            guard let id = transfers.first(where: { $0.value.owns(message.pointee.easy_handle) })?.key else { continue }
            transfers.removeValue(forKey: id)?.end(with: result)
        }
    }

    /// libcurl sends with `MSG_NOSIGNAL`, but OpenSSL may write without.
    private static func blockPipeSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
