// Dispatch sources may be cancelled on any thread, but their protocols are not marked Sendable on Linux.
@preconcurrency import Dispatch

/// Waits for descriptors without blocking a thread of the cooperative pool.
package enum DescriptorReadiness {
    /// Returns when the descriptor can be read, or when the task is cancelled. The caller must read to find out which
    /// of the two has happened.
    package static func waitForInput(_ descriptor: CInt) async {
        await firing(of: DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global()))
    }

    /// Returns when the descriptor can be written, or when the task is cancelled.
    package static func waitForRoom(_ descriptor: CInt) async {
        await firing(of: DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: .global()))
    }

    /// Waits until the source fires or the task is cancelled. The descriptor may be closed as soon as this returns.
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
        // The event handler and the source retain each other; this breaks the cycle.
        source.setEventHandler(handler: nil)
    }
}
