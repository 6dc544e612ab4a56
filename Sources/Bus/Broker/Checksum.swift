/// What a row of the journal is checked with: XXH64 of the data, seeded with that of the header, which is seeded with that
/// of the topic, exclusive-or the offset, exclusive-or the previous offset rotated by 32 bits.
enum Checksum {
    /// - Parameter topic: the XXH64 of its name.
    static func of(
        topic: UInt64, offset: UInt64, previous: UInt64, header: UnsafeRawBufferPointer, data: UnsafeRawBufferPointer
    ) -> Int64 {
        let place = topic ^ offset ^ (previous << 32 | previous >> 32)
        return Int64(bitPattern: XXH64.hash(data, seed: XXH64.hash(header, seed: place)))
    }
}
