internal import BusFormat
internal import EventBus
internal import Glibc
internal import SystemSupport

/// The end of a journal after its last commit, in a file of 24 bytes beside the journal: epoch (8), offset (8), mark
/// (8). It shows at the next start that the end of the journal is lost, even if no client knows of the lost messages.
///
/// The record is written after each commit and before the replies, and never synchronised with the disk. If it is older
/// than the journal, it shows less, but nothing false.
final class EndRecord {
    struct Content: Equatable {
        let epoch: UInt64
        /// The offset of the last message.
        let head: UInt64
        /// The mark of the last message; see ``MarkMaker``. Without a valid mark the record is ignored.
        let mark: UInt64
    }

    private let descriptor: CInt
    private static let size = 24

    /// Opens the record of a journal, or creates an empty one.
    /// - Parameter journal: The path of the journal, without symbolic links.
    /// - Throws: ``SystemError``.
    init(of journal: String) throws(SystemError) {
        let path = "\(journal).end"
        try PrivateFile.claim(path)
        descriptor = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(path) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Returns the content; nil if the record is empty or has another size.
    func read() -> Content? {
        var bytes = [UInt8](repeating: 0, count: Self.size + 1)
        guard pread(descriptor, &bytes, bytes.count, 0) == Self.size else { return nil }
        var reader = ByteReader(bytes)
        guard let epoch: UInt64 = try? reader.read(), let head: UInt64 = try? reader.read(),
            let mark: UInt64 = try? reader.read()
        else { return nil }
        return Content(epoch: epoch, head: head, mark: mark)
    }

    /// Replaces the content. If this fails, the old content stays.
    func write(_ content: Content) {
        var writer = ByteWriter(capacity: Self.size)
        for number in [content.epoch, content.head, content.mark] { writer.write(number) }
        _ = pwrite(descriptor, writer.bytes, Self.size, 0)
    }
}
