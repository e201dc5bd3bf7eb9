"""What a fabric's plan says to others: tables to read and to order from, and topologies for schedulers and managers."""
