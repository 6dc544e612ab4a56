// Dispatch sources may be cancelled from any thread, but on Linux their protocols are not marked Sendable.
@preconcurrency import Dispatch

/// Waiting for descriptors without a thread of the cooperative pool.
package enum DescriptorReadiness {
    /// Returns when the descriptor can be read, or when the task is cancelled; the caller finds out which by reading.
    package static func waitForInput(_ descriptor: CInt) async {
        await firing(of: DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global()))
    }

    /// Returns when the descriptor can be written, or when the task is cancelled.
    package static func waitForRoom(_ descriptor: CInt) async {
        await firing(of: DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: .global()))
    }

    /// The descriptor may be closed as soon as this has returned: Dispatch has let go of it by then, because the
    /// cancel handler runs last and exactly once, however often and by whomever the source is cancelled.
    private static func firing(of source: any DispatchSourceProtocol) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                source.setEventHandler { source.cancel() }
                source.setCancelHandler { continuation.resume() }
                source.activate()
            }
        } onCancel: {
            source.cancel()
        }
        // The handler holds the source, and the source the handler.
        source.setEventHandler(handler: nil)
    }
}
