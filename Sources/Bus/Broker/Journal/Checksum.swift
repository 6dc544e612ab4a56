/// The checksum of a row of the journal: XXH64 of the data, with XXH64 of the header as its seed. The seed for the
/// header is the hash of the topic's name, xor the offset, xor the previous offset rotated by 32 bits. If the row has a
/// verified origin, that number is the seed for its session, and the session's XXH64 the one for its publisher, whose
/// XXH64 is then the seed for the header.
enum Checksum {
    /// - Parameter topic: The XXH64 of the topic's name.
    static func of(
        topic: UInt64, offset: UInt64, previous: UInt64, header: UnsafeRawBufferPointer, data: UnsafeRawBufferPointer,
        origin: RowOrigin = RowOrigin()
    ) -> Int64 {
        var place = topic ^ offset ^ (previous << 32 | previous >> 32)
        if !origin.isEmpty { place = XXH64.hash(origin.publisher, seed: XXH64.hash(origin.session, seed: place)) }
        return Int64(bitPattern: XXH64.hash(data, seed: XXH64.hash(header, seed: place)))
    }
}

/// The hash XXH64: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
enum XXH64 {
    private static let primes: (UInt64, UInt64, UInt64, UInt64, UInt64) = (
        0x9e37_79b1_85eb_ca87, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9, 0x85eb_ca77_c2b2_ae63,
        0x27d4_eb2f_1656_67c5
    )

    static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
        let (prime1, prime2, prime3, prime4, prime5) = primes
        var index = 0
        var hash = seed &+ prime5
        if bytes.count >= 32 {
            var lane1 = seed &+ prime1 &+ prime2
            var lane2 = seed &+ prime2
            var lane3 = seed
            var lane4 = seed &- prime1
            while index + 32 <= bytes.count {
                lane1 = round(lane1, word(bytes, index))
                lane2 = round(lane2, word(bytes, index + 8))
                lane3 = round(lane3, word(bytes, index + 16))
                lane4 = round(lane4, word(bytes, index + 24))
                index += 32
            }
            hash = rotate(lane1, 1) &+ rotate(lane2, 7) &+ rotate(lane3, 12) &+ rotate(lane4, 18)
            hash = merge(merge(merge(merge(hash, lane1), lane2), lane3), lane4)
        }
        hash &+= UInt64(bytes.count)
        while index + 8 <= bytes.count {
            hash = rotate(hash ^ round(0, word(bytes, index)), 27) &* prime1 &+ prime4
            index += 8
        }
        if index + 4 <= bytes.count {
            let half = UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)))
            hash = rotate(hash ^ (half &* prime1), 23) &* prime2 &+ prime3
            index += 4
        }
        while index < bytes.count {
            hash = rotate(hash ^ (UInt64(bytes[index]) &* prime5), 11) &* prime1
            index += 1
        }
        hash = (hash ^ (hash >> 33)) &* prime2
        hash = (hash ^ (hash >> 29)) &* prime3
        return hash ^ (hash >> 32)
    }

    private static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
        rotate(lane &+ word &* primes.1, 31) &* primes.0
    }

    private static func merge(_ hash: UInt64, _ lane: UInt64) -> UInt64 {
        (hash ^ round(0, lane)) &* primes.0 &+ primes.3
    }

    private static func rotate(_ value: UInt64, _ bits: UInt64) -> UInt64 {
        value << bits | value >> (64 - bits)
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
    }
}
