internal import CSodium
package import Foundation

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// The message's digest, 32 bytes.
    package static func hash(_ message: Data) -> Data {
        _ = initialised
        var digest = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_bytes()))
        // The function always returns 0.
        _ = crypto_hash_sha256(&digest, Array(message), UInt64(message.count))
        return Data(digest)
    }
}

/// A secret of 256 bits, the size that both ``HMAC`` and ``ChaChaPoly`` use.
package struct SecretKey: Sendable {
    private static let size = 32

    package let bytes: Data

    /// A new random key.
    package init() {
        bytes = RandomBytes.make(Self.size)
    }

    /// Restores a stored key. Nil unless it has 32 bytes.
    package init?(_ bytes: Data) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }
}

/// HMAC-SHA-256 (RFC 2104, FIPS 198-1): a code that only the owners of the key can make and check.
package enum HMAC {
    package typealias Key = SecretKey

    /// The message's code, 32 bytes.
    package static func code(of message: Data, with key: Key) -> Data {
        _ = initialised
        var code = [UInt8](repeating: 0, count: Int(crypto_auth_hmacsha256_bytes()))
        // The function always returns 0.
        _ = crypto_auth_hmacsha256(&code, Array(message), UInt64(message.count), Array(key.bytes))
        return Data(code)
    }
}

/// Signatures with Ed25519 (RFC 8032).
package enum Ed25519 {
    /// The public key that belongs to a seed. Nil unless the seed has 32 bytes.
    package static func publicKey(seed: [UInt8]) -> [UInt8]? {
        _ = initialised
        guard seed.count == Int(crypto_sign_seedbytes()) else { return nil }
        var publicKey = [UInt8](repeating: 0, count: Int(crypto_sign_publickeybytes()))
        var secretKey = [UInt8](repeating: 0, count: Int(crypto_sign_secretkeybytes()))
        // The function always returns 0.
        _ = crypto_sign_seed_keypair(&publicKey, &secretKey, seed)
        sodium_memzero(&secretKey, secretKey.count)
        return publicKey
    }
}

/// Key pairs for key agreement on Curve25519 (RFC 7748).
package enum Curve25519 {
    /// A new random key pair. Each key has 32 bytes.
    package static func keyPair() -> (publicKey: [UInt8], secretKey: [UInt8]) {
        _ = initialised
        var publicKey = [UInt8](repeating: 0, count: Int(crypto_box_publickeybytes()))
        var secretKey = [UInt8](repeating: 0, count: Int(crypto_box_secretkeybytes()))
        // The function always returns 0.
        _ = crypto_box_keypair(&publicKey, &secretKey)
        return (publicKey, secretKey)
    }

    /// The public key that belongs to a secret key. Nil unless the secret key has 32 bytes.
    package static func publicKey(of secretKey: [UInt8]) -> [UInt8]? {
        _ = initialised
        guard secretKey.count == Int(crypto_box_secretkeybytes()) else { return nil }
        var publicKey = [UInt8](repeating: 0, count: Int(crypto_box_publickeybytes()))
        // The function always returns 0.
        _ = crypto_scalarmult_base(&publicKey, secretKey)
        return publicKey
    }
}

/// SipHash-2-4: a hash of 64 bits that cannot be computed without its key. It is meant for short messages.
package enum SipHash {
    /// A secret of 128 bits.
    package struct Key: Sendable {
        fileprivate let bytes: [UInt8]

        /// Restores a stored key. Nil unless it has 16 bytes.
        package init?(_ bytes: Data) {
            guard bytes.count == Int(crypto_shorthash_keybytes()) else { return nil }
            self.bytes = Array(bytes)
        }
    }

    package static func hash(_ message: [UInt8], with key: Key) -> UInt64 {
        var hash = [UInt8](repeating: 0, count: Int(crypto_shorthash_bytes()))
        // The function always returns 0.
        _ = crypto_shorthash(&hash, message, UInt64(message.count), key.bytes)
        return hash.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// Encryption with authentication: ChaCha20-Poly1305 (RFC 8439).
///
/// A sealed message is a nonce of 12 bytes, the ciphertext, and a tag of 16 bytes.
package enum ChaChaPoly {
    /// The sealed message was damaged or cut short, or was sealed with another key or label.
    package struct NotAuthentic: Error {}

    package typealias Key = SecretKey

    private static let nonceSize = Int(crypto_aead_chacha20poly1305_ietf_npubbytes())
    private static let tagSize = Int(crypto_aead_chacha20poly1305_ietf_abytes())

    /// Encrypts a message with a random nonce. A key may be used for at most 2^32 messages; beyond that, equal random
    /// nonces are too likely.
    /// - Parameter label: Data that is authenticated, but not encrypted and not part of the result.
    ///   ``open(_:with:label:)`` needs the same label.
    package static func seal(_ message: Data, with key: Key, label: Data) -> Data {
        _ = initialised
        let nonce = RandomBytes.make(nonceSize)
        var sealed = [UInt8](repeating: 0, count: message.count + tagSize)
        // With buffers of these sizes the function always returns 0.
        _ = crypto_aead_chacha20poly1305_ietf_encrypt(
            &sealed, nil, Array(message), UInt64(message.count), Array(label), UInt64(label.count), nil, Array(nonce),
            Array(key.bytes))
        return nonce + sealed
    }

    /// Decrypts a sealed message.
    /// - Throws: ``NotAuthentic``.
    package static func open(_ sealed: Data, with key: Key, label: Data) throws -> Data {
        _ = initialised
        guard sealed.count >= nonceSize + tagSize else { throw NotAuthentic() }
        let nonce = sealed.prefix(nonceSize)
        let content = sealed.dropFirst(nonceSize)
        var message = [UInt8](repeating: 0, count: content.count - tagSize)
        let status = crypto_aead_chacha20poly1305_ietf_decrypt(
            &message, nil, nil, Array(content), UInt64(content.count), Array(label), UInt64(label.count), Array(nonce),
            Array(key.bytes))
        guard status == 0 else { throw NotAuthentic() }
        return Data(message)
    }
}

/// Bytes that an attacker cannot guess, from the operating system's random source.
package enum RandomBytes {
    package static func make(_ count: Int) -> Data {
        _ = initialised
        var bytes = [UInt8](repeating: 0, count: count)
        randombytes_buf(&bytes, count)
        return Data(bytes)
    }
}

/// Initialises libsodium.
private let initialised: Void = {
    precondition(sodium_init() >= 0, "libsodium cannot find a source of random numbers")
}()

/// Comparison of secrets.
package enum ConstantTime {
    /// True if two secrets are equal. The time of the comparison depends on their lengths but not on their contents.
    package static func areEqual(_ one: Data, _ other: Data) -> Bool {
        one.count == other.count && sodium_memcmp(Array(one), Array(other), one.count) == 0
    }
}
