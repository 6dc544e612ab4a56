internal import BusFormat
internal import Foundation
internal import Sodium

/// Creates and checks marks. A mark proves that the broker has told a client of a certain message at the end of the
/// journal. It is created with a secret key of the journal.
///
/// The first four bytes of a mark are a *fingerprint*, a keyed hash of the epoch, the offset and the checksum of the
/// row. The other four bytes authenticate the fingerprint: they are a keyed hash of the epoch, the offset and the
/// fingerprint.
struct MarkMaker {
    private let key: SipHash.Key

    init(key: SipHash.Key) {
        self.key = key
    }

    /// - Parameter checksum: The checksum of the row at the offset; nil if retention has removed the row.
    func mark(of offset: UInt64, in epoch: UInt64, checksum: Int64?) -> UInt64 {
        let fingerprint = checksum.map { self.fingerprint(of: offset, in: epoch, checksum: $0) } ?? 0
        return UInt64(fingerprint) << 32 | UInt64(authenticator(of: fingerprint, at: offset, in: epoch))
    }

    /// True if the mark was made with this key for this offset and epoch.
    func isAuthentic(_ mark: UInt64, of offset: UInt64, in epoch: UInt64) -> Bool {
        authenticator(of: UInt32(mark >> 32), at: offset, in: epoch) == UInt32(truncatingIfNeeded: mark)
    }

    /// True if the mark may have been made for this row. A mark that was made after the row was removed matches any
    /// row.
    func mayBe(_ mark: UInt64, of offset: UInt64, in epoch: UInt64, checksum: Int64) -> Bool {
        let fingerprint = UInt32(mark >> 32)
        return fingerprint == 0 || fingerprint == self.fingerprint(of: offset, in: epoch, checksum: checksum)
    }

    private func fingerprint(of offset: UInt64, in epoch: UInt64, checksum: Int64) -> UInt32 {
        max(1, hash(1, epoch, offset, UInt64(bitPattern: checksum)))
    }

    private func authenticator(of fingerprint: UInt32, at offset: UInt64, in epoch: UInt64) -> UInt32 {
        hash(2, epoch, offset, UInt64(fingerprint))
    }

    /// - Parameter purpose: Distinguishes hashes for different purposes, so that one cannot be used in place of
    ///   another.
    private func hash(_ purpose: UInt8, _ numbers: UInt64...) -> UInt32 {
        var message = ByteWriter(capacity: 25)
        message.write(purpose)
        for number in numbers { message.write(number) }
        return UInt32(truncatingIfNeeded: SipHash.hash(message.bytes, with: key))
    }
}
