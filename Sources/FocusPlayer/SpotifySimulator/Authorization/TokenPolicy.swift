/// How the simulator hands out tokens.
package struct TokenPolicy: Sendable, Equatable {
    /// When a refresh gives a new refresh token, which revokes the one that was presented.
    package enum Rotation: String, CaseIterable, Sendable {
        /// The first refresh token lasts.
        case never
        /// Every second refresh rotates. Spotify promises nothing either way, so clients meet both.
        case alternate
        /// Every refresh rotates.
        case always
    }

    /// How long an access token is good for, in whole seconds.
    package var accessTokenLifetime: Duration
    /// When refresh tokens change.
    package var rotation: Rotation

    /// - Parameters:
    ///   - accessTokenLifetime: Spotify's is one hour.
    ///   - rotation: When refresh tokens change.
    package init(accessTokenLifetime: Duration = .seconds(3600), rotation: Rotation = .alternate) {
        self.accessTokenLifetime = accessTokenLifetime
        self.rotation = rotation
    }
}
