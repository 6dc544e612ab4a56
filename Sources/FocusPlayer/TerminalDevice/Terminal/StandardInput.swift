internal import Foundation

/// The lines of standard input.
///
/// A terminal, a pipe and a file are all read the same way: by a thread of its own that may block, which only some of
/// them would spare us. It reads when a line is asked for, so that no more than one waits here.
enum StandardInput {
    /// For one reader.
    static func lines() -> AsyncStream<String> {
        let demand = DispatchSemaphore(value: 0)
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            var reader = LineReader(descriptor: STDIN_FILENO)
            while true {
                demand.wait()
                guard let line = reader.next() else { break }
                continuation.yield(line)
            }
            continuation.finish()
        }
        return AsyncStream {
            demand.signal()
            for await line in lines { return line }
            return nil
        }
    }
}
