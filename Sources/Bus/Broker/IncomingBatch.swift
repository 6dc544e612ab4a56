internal import BusProtocol

/// A batch with the request that brought it.
struct IncomingBatch {
    let from: Incoming
    let head: RequestHead
    let batch: BatchHead
}
