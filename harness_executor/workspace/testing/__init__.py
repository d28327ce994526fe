"""Which tests ran: runners are asked to say so, and what they say is read with care."""
