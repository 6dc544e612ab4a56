/// What `GET /_control` prints: how to make the simulated Spotify misbehave, with `curl`.
enum ControlPage {
    static let text = """
        Spotify simulator: control

        GET  /_control/state     what is going on, as JSON; never a token
        POST /_control/reset     everything as at the start; tokens that clients hold become unknown

        POST /_control/revoke    tokens=access   access tokens become invalid: clients must refresh
                                 tokens=all      refresh tokens too: clients must ask the user again

        POST /_control/premium   premium=on
                                 premium=off     player commands answer 403 PREMIUM_REQUIRED

        POST /_control/devices   action=activate&id=ID   the user picks a device in a Spotify app
                                 action=deactivate       listed, none active: 404 NO_ACTIVE_DEVICE
                                 action=none             no device is listed
                                 action=all              the devices of the catalogue, as at the start

        POST /_control/faults    path=/v1/me/playlists   which requests; a trailing * matches any ending
                                 status=429              how they are answered, 400 to 599 (optional with delay_ms)
                                 retry_after=2           the Retry-After header, in seconds; 1 with 429 unless said
                                 delay_ms=500            how long they wait first, at most 60000 (optional)
                                 count=1                 how many of them, 1 unless said
        DELETE /_control/faults  no more faults

        Parameters are form fields. Every POST and DELETE answers like GET /_control/state. For example:

            curl -d tokens=access http://127.0.0.1:PORT/_control/revoke
            curl -d 'path=/v1/*&status=429&retry_after=2&count=3' http://127.0.0.1:PORT/_control/faults

        """
}
